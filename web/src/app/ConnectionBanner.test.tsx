import { render, screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { Problem } from "../api/problem";
import { cwWith } from "../testing/fakes";
import { ConnectionBanner } from "./ConnectionBanner";
import { CwProvider } from "./cw";

test("a stream that was refused for good is told, with the reason", () => {
  const { cw } = cwWith({});
  cw.live.state.set({ kind: "ended", why: new Problem(403, "forbidden", "the token may not do this", "it needs the scope operate") });
  render(<CwProvider cw={cw}><ConnectionBanner /></CwProvider>);
  expect(screen.getByRole("alert").textContent).toContain("no longer kept up to date (the token may not do this");
});

test("while the stream stands nothing is said", () => {
  const { cw } = cwWith({});
  cw.live.state.set({ kind: "live" });
  render(<CwProvider cw={cw}><ConnectionBanner /></CwProvider>);
  expect(screen.queryByRole("alert")).toBeNull();
});
