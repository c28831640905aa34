import { act, fireEvent, screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { inboxQuery } from "../../../api/queries";
import { useCw } from "../../../app/cw";
import { layers } from "../../../app/keys";
import { useQuery } from "@tanstack/react-query";
import { agentOf, cwWith, itemOf, refuse } from "../../../testing/fakes";
import { press, renderAt } from "../../../testing/renderAt";
import { focusAnswer } from "../../../questions/focusAnswer";
import { Inbox } from "./Inbox";
import { useChosen } from "./useChosen";

const question = { id: "q1", agentId: "id-sly-stoat", agent: "sly-stoat", question: "Round per line or per order?", options: [{ label: "Per line" }, { label: "Per order" }], multiSelect: false, status: "open", header: "Rounding", createdAt: "2026-11-23T05:00:00Z" };
const item = itemOf("question:r", { questionIds: ["q1"], agent: "sly-stoat", agentId: "id-sly-stoat", text: question.question });
const crash = itemOf("crashed:x", { agent: "shy-panda", agentId: "id-shy-panda" });

function daemon(more: Record<string, unknown> = {}) {
  return cwWith({
    "GET /v1/inbox": { items: [item, crash] },
    "GET /v1/agents": { items: [agentOf("sly-stoat", { status: "waiting_for_input" }), agentOf("shy-panda", { status: "crashed" })] },
    "GET /v1/dispatch": { merges: [] },
    "GET /v1/questions/q1": question,
    ...more,
  });
}

function Page() {
  const items = useQuery(inboxQuery(useCw().client)).data?.items ?? [];
  const chosen = useChosen(items);
  return chosen.shown.length > 0 ? <Inbox items={items} chosen={chosen} /> : null;
}

test("a question is answered with the keyboard alone, and the next item is chosen", async () => {
  const { cw, asked } = daemon({ "POST /v1/answers": { items: [] } });
  const view = renderAt(cw, <Page />);
  await screen.findByLabelText(/Per order/);
  focusAnswer(document.querySelector("[data-detail]"));
  await press("2");
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>(/Per order/).checked).toBe(true));
  fireEvent.submit(document.querySelector("[data-detail] form") as HTMLFormElement);
  await waitFor(() => expect(asked.find((one) => one.line === "POST /v1/answers")?.body).toEqual({ answers: { q1: "Per order" } }));
  await waitFor(() => expect(screen.getByRole("button", { expanded: true }).textContent).toContain("Crashed"));
  expect(view.router.state.location.search).toEqual({ item: "crashed:x" });
  await waitFor(() => expect(document.activeElement?.id).toBe("inbox-detail"));
  view.end();
});

test("nothing is sent before something is chosen", async () => {
  const { cw, asked } = daemon();
  const view = renderAt(cw, <Page />);
  const send = await screen.findByRole<HTMLButtonElement>("button", { name: "Send answer" });
  expect(send.disabled).toBe(true);
  fireEvent.submit(document.querySelector("[data-detail] form") as HTMLFormElement);
  expect(asked.some((one) => one.line === "POST /v1/answers")).toBe(false);
  view.end();
});

test("when another browser was first, it says who and what", async () => {
  let first = false;
  const { cw } = daemon({
    "POST /v1/answers": () => {
      first = true;
      return refuse(409, "conflict", "question q1 is answered already");
    },
    "GET /v1/questions/q1": () => (first ? { ...question, status: "answered", answer: "Per line", answeredBy: "wall-screen", answeredAt: "2026-11-23T05:10:00Z" } : question),
  });
  const view = renderAt(cw, <Page />);
  fireEvent.click(await screen.findByLabelText(/Per order/));
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Send answer" }).disabled).toBe(false));
  fireEvent.submit(document.querySelector("[data-detail] form") as HTMLFormElement);
  expect((await screen.findByText(/wall-screen answered/)).textContent).toContain("Per line");
  view.end();
});

test("the chosen item stays when it was dealt with elsewhere, and another one above it changes nothing", async () => {
  let items = [item, crash];
  const { cw } = daemon({ "GET /v1/inbox": () => ({ items }) });
  const view = renderAt(cw, <Page />, "/?item=crashed%3Ax");
  await waitFor(() => expect(screen.getByRole("button", { expanded: true }).textContent).toContain("Crashed"));
  items = [itemOf("question:new", { questionIds: [] }), item, crash];
  await cw.queries.invalidateQueries({ queryKey: ["inbox"] });
  await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(3));
  expect(screen.getByRole("button", { expanded: true }).textContent).toContain("Crashed");
  items = [item];
  await cw.queries.invalidateQueries({ queryKey: ["inbox"] });
  expect(await screen.findByText(/This waits no more/)).toBeTruthy();
  view.end();
});

/** Chooses an answer of the question and sends it. */
async function answerIt() {
  fireEvent.click(await screen.findByLabelText(/Per order/));
  fireEvent.submit(document.querySelector("[data-detail] form") as HTMLFormElement);
}

test("what was dealt with is shown again when it comes back", async () => {
  let items = [item, crash];
  const { cw } = daemon({ "GET /v1/inbox": () => ({ items }), "POST /v1/answers": { items: [] } });
  const view = renderAt(cw, <Page />);
  await answerIt();
  await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(1));
  items = [crash];
  await cw.queries.invalidateQueries({ queryKey: ["inbox"] });
  items = [item, crash];
  await cw.queries.invalidateQueries({ queryKey: ["inbox"] });
  await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(2));
  view.end();
});

test("an answer that is stored late leads nobody away from where they are now", async () => {
  let stored: (value: unknown) => void = () => undefined;
  const third = itemOf("stalled:y", { agent: "calm-fox", agentId: "id-calm-fox" });
  const { cw } = daemon({ "GET /v1/inbox": { items: [item, crash, third] }, "POST /v1/answers": () => new Promise((resolve) => (stored = resolve)) });
  const view = renderAt(cw, <Page />);
  await answerIt();
  await press("n", "n");
  await waitFor(() => expect(screen.getByRole("button", { expanded: true }).textContent).toContain("Stalled"));
  await act(async () => stored({ items: [] }));
  await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(2));
  expect(screen.getByRole("button", { expanded: true }).textContent).toContain("Stalled");
  view.end();
});

test("an answer that is stored after the page was left does not lead back to it", async () => {
  let stored: (value: unknown) => void = () => undefined;
  const { cw, asked } = daemon({ "POST /v1/answers": () => new Promise((resolve) => (stored = resolve)) });
  const view = renderAt(cw, <Page />);
  await answerIt();
  await waitFor(() => expect(asked.some((one) => one.line === "POST /v1/answers")).toBe(true));
  void view.router.navigate({ to: "/agents/$name", params: { name: "sly-stoat" } } as never);
  await screen.findByText("the page of an agent");
  await waitFor(() => expect(layers.get()).toEqual([])); // the page and its keys are gone
  await act(async () => stored({ items: [] }));
  await waitFor(() => expect(cw.queries.isMutating()).toBe(0));
  expect(view.router.state.location.pathname).toBe("/agents/sly-stoat");
  view.end();
});

test("a second press of a button that acts does it once", async () => {
  let done: (value: unknown) => void = () => undefined;
  const { cw, asked } = daemon({ "POST /v1/agents/id-shy-panda/resume": () => new Promise((resolve) => (done = resolve)) });
  const view = renderAt(cw, <Page />, "/?item=crashed%3Ax");
  await screen.findByRole("button", { name: /^Resume/ });
  const submit = () => fireEvent.submit(document.querySelector("[data-detail] form") as HTMLFormElement);
  const resumes = () => asked.filter((one) => one.line === "POST /v1/agents/id-shy-panda/resume").length;
  submit();
  await waitFor(() => expect(screen.getByRole("button", { name: /^Resume/ }).getAttribute("aria-busy")).toBe("true"));
  submit();
  await act(async () => done({}));
  await waitFor(() => expect(cw.queries.isMutating()).toBe(0));
  expect(resumes()).toBe(1);
  view.end();
});

test("the second click of a double click does nothing to the item that came to the same place", async () => {
  const { cw, asked } = daemon({ "GET /v1/inbox": { items: [crash] }, "POST /v1/agents/shy-panda/resume": {} });
  const view = renderAt(cw, <Page />);
  const resume = await screen.findByRole("button", { name: /Resume/ });
  fireEvent.click(resume, { detail: 2 });
  await act(() => Promise.resolve());
  expect(asked.filter((one) => one.line.startsWith("POST"))).toEqual([]);
  fireEvent.click(resume, { detail: 1 });
  await waitFor(() => expect(asked.filter((one) => one.line.startsWith("POST")).length).toBeGreaterThan(0));
  view.end();
});

test("an initiative is landed by its button alone, not by Enter", async () => {
  const landing = itemOf("landing:i", { initiative: "shop", initiativeId: "i" });
  const { cw, asked } = daemon({ "GET /v1/inbox": { items: [landing] }, "POST /v1/initiatives/i/land": { items: [] } });
  const view = renderAt(cw, <Page />);
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Land" }).disabled).toBe(false));
  fireEvent.submit(document.querySelector("[data-detail] form") as HTMLFormElement);
  await waitFor(() => expect(cw.queries.isMutating()).toBe(0));
  expect(asked.filter((one) => one.line === "POST /v1/initiatives/i/land").map((one) => one.body)).toEqual([{ dryRun: true }]);
  view.end();
});
