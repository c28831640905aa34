import { act, screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { layers } from "../../app/keys";
import { cwWith } from "../../testing/fakes";
import { renderAt } from "../../testing/renderAt";
import { TaskGate } from "./TaskGate";

test("the key that merges does so once, however often it is pressed", async () => {
  let done: (value: unknown) => void = () => undefined;
  const { cw, asked } = cwWith({
    "GET /v1/tasks/t": { id: "t", initiativeId: "i", status: "merging" },
    "GET /v1/initiatives/i": { branch: "cw/x" },
    "GET /v1/initiatives/i/merges": { items: [{ taskId: "t", status: "queued", verify: true, conflicts: 0, reds: 0 }] },
    "POST /v1/tasks/t/verdict": () => new Promise((resolve) => (done = resolve)),
  });
  const view = renderAt(cw, <TaskGate id="t" />);
  await screen.findByRole("button", { name: /^Merge when green/ });
  const merge = () => act(() => void document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "M", shiftKey: true, bubbles: true, cancelable: true })));
  await waitFor(() => expect(layers.get().flatMap((layer) => layer.keys.map((key) => key.key))).toContain("shift+m"));
  await merge();
  await merge();
  await waitFor(() => expect(asked.some((one) => one.line.endsWith("/verdict"))).toBe(true));
  await act(async () => done({}));
  await waitFor(() => expect(cw.queries.isMutating()).toBe(0));
  expect(asked.filter((one) => one.line.endsWith("/verdict")).map((one) => one.body)).toEqual([{ accept: true, comment: "" }]);
  view.end();
});
