import { render, screen } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { cwWith } from "../testing/fakes";
import { App } from "./App";

test("who signs out, here or in another tab, leaves nothing that was read", async () => {
  const { cw } = cwWith({});
  vi.spyOn(cw.live, "run").mockResolvedValue();
  cw.queries.setQueryData(["agents", "all"], [{ name: "otter" }]);
  render(<App cw={cw} signInError={null} />);
  expect(screen.queryByText(/This browser has no session/)).toBeNull();
  localStorage.removeItem("cw.session");
  dispatchEvent(new StorageEvent("storage", { key: "cw.session" }));
  await screen.findByText(/This browser has no session/);
  expect(cw.queries.getQueryCache().getAll()).toEqual([]);
});
