import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { cwWith } from "../testing/fakes";
import { press, renderAt } from "../testing/renderAt";
import { CheckpointForm } from "./CheckpointForm";
import type { Asked } from "./drafts";
import { focusAnswer } from "./focusAnswer";
import { QuestionForm } from "./QuestionForm";

const where: Asked = { id: "where", question: "Where does it go?", options: [{ label: "Cart" }, { label: "Search" }], multiSelect: true };
const why: Asked = { id: "why", question: "Why?" };

const form = () => document.querySelector("form") as HTMLFormElement;
const own = () => screen.getByLabelText<HTMLTextAreaElement>(/Your own words/);

function show(questions: Asked[], more: { onNext?: () => void } = {}) {
  const onSend = vi.fn();
  const view = renderAt(cwWith({}).cw, <QuestionForm questions={questions} acting={false} note="It goes on" onSend={onSend} {...more} />);
  return { onSend, view };
}

test("several questions are answered with the keyboard alone, options and own words at the same time", async () => {
  const { onSend, view } = show([where, why]);
  await screen.findByText("Where does it go?");
  await press("2", "1");
  fireEvent.input(own(), { target: { value: "and the footer" } });
  fireEvent.keyDown(own(), { key: "Enter" });
  await screen.findByText("Why?");
  expect(onSend).not.toHaveBeenCalled();
  await waitFor(() => expect(document.activeElement).toBe(own()));
  fireEvent.input(own(), { target: { value: "Because" } });
  fireEvent.keyDown(own(), { key: "Enter" });
  expect(onSend).toHaveBeenCalledExactlyOnceWith({ where: "Cart, Search\nand the footer", why: "Because" });
  view.end();
});

test("letters and numbers are text while somebody types", async () => {
  const { view } = show([where]);
  await screen.findByText("Where does it go?");
  await press("o");
  expect(document.activeElement).toBe(own());
  await press("1", "n");
  expect(screen.getByLabelText<HTMLInputElement>(/Cart/).checked).toBe(false);
  view.end();
});

test("n leads to the next question where nothing else waits, and to what waits where something does", async () => {
  const alone = show([where, why]);
  await screen.findByText("Where does it go?");
  await press("n");
  expect(await screen.findByText("Why?")).toBeTruthy();
  alone.view.end();
  alone.view.unmount();
  const onNext = vi.fn();
  const { view } = show([where, why], { onNext });
  await screen.findByText("Where does it go?");
  fireEvent.click(screen.getByRole("button", { name: "Next" }));
  expect(onNext).toHaveBeenCalledOnce();
  view.end();
});

test("a draft is there when the question is shown again", async () => {
  const first = show([why]);
  await screen.findByText("Why?");
  fireEvent.input(own(), { target: { value: "half an ans" } });
  first.view.end();
  first.view.unmount();
  const { view } = show([why]);
  await waitFor(() => expect(own().value).toBe("half an ans"));
  view.end();
});

test("the focus goes to what was picked", async () => {
  const { view } = show([{ ...where, multiSelect: false }]);
  await screen.findByText("Where does it go?");
  await press("2");
  (document.activeElement as HTMLElement).blur();
  focusAnswer(form());
  expect((document.activeElement as HTMLInputElement).dataset.option).toBe("2");
  view.end();
});

test("a checkpoint's answers have the ids of its task, and a second Enter says nothing twice", async () => {
  const onVerdict = vi.fn();
  const task = { id: "t1", type: "checkpoint:decision" as const, questions: [{ question: "Which?", options: [{ label: "A" }] }] };
  const { cw } = cwWith({});
  const view = renderAt(cw, <CheckpointForm task={task} acting={null} onVerdict={onVerdict} />);
  fireEvent.click(await screen.findByLabelText(/A/));
  fireEvent.submit(form());
  expect(onVerdict).toHaveBeenCalledExactlyOnceWith({ accept: true, answers: { q1: "A" } });
  view.end();
  view.unmount();
  const busy = renderAt(cw, <CheckpointForm task={task} acting={{ accept: true }} onVerdict={onVerdict} />);
  await screen.findByText("Which?");
  fireEvent.submit(form());
  expect(onVerdict).toHaveBeenCalledOnce();
  busy.end();
});
