import { act, renderHook } from "@testing-library/preact";
import { expect, test } from "vitest";
import { Store } from "./store";
import { useSyncExternalStoreWithSelector } from "./withSelector";

test("a part of a store is looked at anew only when that part changes", () => {
  const store = new Store({ a: { n: 1 }, b: 1 });
  let looks = 0;
  const select = (value: { a: { n: number } }) => ({ n: value.a.n });
  const same = (a: { n: number }, b: { n: number }) => a.n === b.n;
  const { result } = renderHook(() => {
    looks++;
    return useSyncExternalStoreWithSelector(store.subscribe, store.get, undefined, select, same);
  });
  const first = result.current;
  const before = looks;
  act(() => store.set({ a: { n: 1 }, b: 2 }));
  expect(result.current).toBe(first);
  expect(looks).toBe(before);
  act(() => store.set({ a: { n: 2 }, b: 2 }));
  expect(result.current).toEqual({ n: 2 });
});
