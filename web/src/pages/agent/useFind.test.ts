import { act, renderHook } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { sayFailed } from "../../app/notices";
import type { Reader } from "./reader";
import { useFind } from "./useFind";

vi.mock(import("../../app/notices"), () => ({ sayFailed: vi.fn() }));

/** A reader whose searches end when the test says so. */
function searching() {
  const ends: { found: (place: string) => void; fail: () => void }[] = [];
  const search = () =>
    new Promise((resolve, reject) => ends.push({ found: (position) => resolve({ items: [{ position }], runs: [] }), fail: () => reject(new Error("aborted")) }));
  const onJump = vi.fn();
  const options = { reader: { search, conversation: { first: "9:0:0" } } as unknown as Reader, revision: 0, rows: { current: [] }, stream: { current: null }, onJump, onLeave: () => undefined };
  const hook = renderHook((text: string) => useFind({ ...options, text }), { initialProps: "old" });
  return { ...hook, ends, onJump };
}

test("what a search finds back then is gone to", async () => {
  const { result, ends, onJump } = searching();
  act(() => result.current.next(false));
  await act(async () => ends[0]?.found("1:5:0"));
  expect(onJump).toHaveBeenCalledExactlyOnceWith({ place: "1:5:0" }, "1:5");
});

test("what is found late, when something else is sought, moves nothing", async () => {
  const { result, rerender, ends, onJump } = searching();
  act(() => result.current.next(false));
  rerender("other");
  await act(async () => ends[0]?.found("1:5:0"));
  expect(onJump).not.toHaveBeenCalled();
});

test("a search that ends with its page is no failure", async () => {
  const { result, unmount, ends } = searching();
  act(() => result.current.next(false));
  act(() => void unmount());
  await act(async () => ends[0]?.fail());
  expect(sayFailed).not.toHaveBeenCalled();
});
