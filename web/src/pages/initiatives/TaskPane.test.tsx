import { act, screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { InitiativeView, Task } from "../../api/initiativeQueries";
import { cwWith } from "../../testing/fakes";
import { renderAt } from "../../testing/renderAt";
import { TaskPane } from "./TaskPane";
import { treeOf } from "./tree";

const head = { id: "t1", name: "Choose", phaseId: "p1", type: "checkpoint:decision", status: "pending", size: "small", priority: "low", dependsOn: [], paths: [], checks: [] } as unknown as Task;
const view = { status: "active", slug: "sale", phases: [{ id: "p1", name: "One", position: 0, status: "approved" }], tasks: [head] } as unknown as InitiativeView;
const dispatch = { running: [], ready: [], merges: [], waiting: [{ id: "t1", wait: { code: "person", text: "you decide" } }] };

test("a task whose text is not read yet can be neither edited nor decided", async () => {
  let read: (value: unknown) => void = () => undefined;
  const { cw, asked } = cwWith({ "GET /v1/tasks/t1": () => new Promise((resolve) => (read = resolve)) });
  const shown = renderAt(cw, <TaskPane head={head} tree={treeOf(view, dispatch as never, [])} view={view} onSelect={() => undefined} />);
  const edit = () => screen.getByRole<HTMLButtonElement>("button", { name: "Edit" });
  await waitFor(() => expect(edit().disabled).toBe(true));
  expect(screen.queryByRole("button", { name: /^Decide/ })).toBeNull();
  await waitFor(() => expect(asked).toHaveLength(1));
  await act(async () => read({ ...head, body: "Which colour?", questions: [{ question: "Which?", options: [{ label: "Blue" }] }] }));
  await waitFor(() => expect(edit().disabled).toBe(false));
  expect(await screen.findByLabelText(/Blue/)).toBeTruthy();
  shown.end();
});
