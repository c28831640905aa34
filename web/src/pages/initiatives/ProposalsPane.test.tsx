import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "../../api/client";
import type { InitiativeView, Proposal } from "../../api/initiativeQueries";
import { Live } from "../../api/live";
import { Session } from "../../api/session";
import { CwProvider } from "../../app/cw";
import { runKeys } from "../../app/keys";
import { press } from "../../testing/renderAt";
import { ProposalsPane } from "./ProposalsPane";

const view = { slug: "sale", status: "active", pages: [], phases: [], tasks: [] } as unknown as InitiativeView;
const proposal = (id: string, title: string) => ({ id, title, target: "page", action: "update", targetId: `t-${id}`, createdAt: "2026-11-23T05:14:00Z" }) as Proposal;
const open = [proposal("p1", "Goal"), proposal("p2", "Decisions")];

const asked: { url: string; body: unknown }[] = [];
let refuse = false;
/** Holds back what the daemon answers to a decision. */
let held: Promise<void> | undefined;
const end = { now: new AbortController() };

beforeEach(() => {
  asked.length = 0;
  refuse = false;
  held = undefined;
  end.now = new AbortController();
  runKeys(end.now.signal);
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method === "POST") {
      asked.push({ url, body: JSON.parse(String(init.body)) });
      return Promise.resolve(held).then(() => refuse ? Response.json({ code: "not_found", message: "no proposal p1" }, { status: 404 }) : Response.json({ items: [] }));
    }
    const id = url.split("/").at(-1);
    return Promise.resolve(Response.json({ ...open.find((one) => one.id === id), agent: "steady-mole", changed: id === "p2", ...(id === "p2" && { conflicts: 1, merged: "<<<<<<< the page\n", seen: "5c1f90a7be23" }), current: "old text\n", after: "new <b>text</b>\n", diff: "--- current\n+++ suggested\n@@ -1 +1 @@\n-old text\n+new <b>text</b>\n" }));
  });
});
afterEach(() => {
  end.now.abort();
  vi.unstubAllGlobals();
});

function show() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const client = new Client(new Session(localStorage));
  const pane = (now: Proposal[]) => (
    <QueryClientProvider client={queries}>
      <CwProvider cw={{ client, queries, live: new Live(client, queries) }}>
        <ProposalsPane view={view} open={now} error={null} className="" />
      </CwProvider>
    </QueryClientProvider>
  );
  const shown = render(pane(open));
  return (now: Proposal[]) => shown.rerender(pane(now));
}

test("y accepts the first, shift+y all of them in one request", async () => {
  show();
  fireEvent.keyDown(window, { key: "y" });
  await waitFor(() => expect(asked).toEqual([{ url: "/v1/proposals/accept", body: { ids: ["p1"] } }]));
  fireEvent.keyDown(window, { key: "Y", shiftKey: true });
  await waitFor(() => expect(asked[1]).toEqual({ url: "/v1/proposals/accept", body: { ids: ["p1", "p2"] } }));
});

test("d asks why before it dismisses", async () => {
  show();
  fireEvent.keyDown(window, { key: "d" });
  const why = await screen.findByLabelText(/Why it is dismissed/);
  expect(asked).toEqual([]);
  fireEvent.input(why, { target: { value: "too large" } });
  fireEvent.submit(why.closest("form") as HTMLFormElement);
  await waitFor(() => expect(asked).toEqual([{ url: "/v1/proposals/dismiss", body: { ids: ["p1"], note: "too large" } }]));
});

test("an agent's text is text, and a person chooses where both changed the same", async () => {
  show();
  await waitFor(() => expect(screen.getAllByRole("article").map((one) => one.textContent.includes("new <b>text</b>"))).toEqual([true, true]));
  expect(document.querySelector("article b")).toBeNull();
  await screen.findByText(/Both changed the same in 1 place/);
  expect(screen.getAllByRole("button", { name: /^Accept$/ })).toHaveLength(1);
  fireEvent.click(screen.getByRole("button", { name: "Keep the page" }));
  await waitFor(() => expect(asked).toEqual([{ url: "/v1/proposals/accept", body: { ids: ["p2"], take: "current", seen: "5c1f90a7be23" } }]));
});

test("a second press while one is decided accepts nothing twice", async () => {
  show();
  await screen.findByText("Page: Goal");
  await press("y", "y");
  await waitFor(() => expect(asked).toHaveLength(1));
  expect(asked[0]?.body).toEqual({ ids: ["p1"] });
});

test("while one is decided nothing else can be, and it can be again then", async () => {
  let answer: () => void = () => undefined;
  held = new Promise((resolve) => (answer = resolve));
  show();
  const buttons = () => (screen.getAllByRole("button", { name: /^Dismiss$|^Accept all$/ }) as HTMLButtonElement[]).map((button) => button.disabled);
  await screen.findByText("Page: Goal");
  expect(buttons()).toEqual([false, false, false]);
  await press("y");
  await waitFor(() => expect(buttons()).toEqual([true, true, true]));
  answer();
  await waitFor(() => expect(buttons()).toEqual([false, false, false]));
});

test("the focus of a card that goes comes to the one in its place", async () => {
  const change = show();
  const card = (await screen.findByText("Page: Goal")).closest("article") as HTMLElement;
  card.focus();
  change(open.slice(1));
  await waitFor(() => expect((document.activeElement as HTMLElement).getAttribute("aria-label")).toBe("Page: Decisions"));
});
