import { screen, waitFor } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import { agentOf, cwWith } from "../../../testing/fakes";
import { press, renderAt } from "../../../testing/renderAt";
import { Agents } from "./Agents";

const many = Array.from({ length: 500 }, (_, i) => agentOf(`agent-${String(i).padStart(3, "0")}`, { status: i % 2 ? "running" : "idle", createdAt: new Date(i * 1000).toISOString() }));

beforeEach(() => {
  vi.stubGlobal("innerHeight", 900);
});

function show(address = "/", agents = many, more: Record<string, unknown> = {}) {
  const { cw, asked } = cwWith({ "GET /v1/dispatch": { merges: [] }, "GET /v1/inbox": { items: [] }, ...more });
  return { ...renderAt(cw, <Agents agents={agents} initiatives={[]} chosen={null} onAnswer={() => undefined} />, address), cw, asked };
}

test("of 500 agents only those in view are painted, and all are counted", async () => {
  const view = show();
  const grid = await screen.findByRole("grid");
  expect(grid.getAttribute("aria-rowcount")).toBe("502");
  expect(document.querySelectorAll("[data-agent]").length).toBeLessThan(60);
  expect(screen.getByRole("button", { name: "All 500" })).toBeTruthy();
  view.end();
});

test("what an agent does this second is painted in its row alone", async () => {
  const view = show();
  const rows = await screen.findAllByRole("row");
  const before = rows.map((row) => row.outerHTML);
  view.cw.live.activityOf("id-agent-001").set({ state: "busy", tool: "Grep" });
  await screen.findByText("Grep");
  const changed = rows.filter((row, i) => row.outerHTML !== before[i]);
  expect(changed.map((row) => (row as HTMLElement).dataset.agent)).toEqual(["id-agent-001"]);
  view.end();
});

test("keys lead through the rows, select them, and open one", async () => {
  const view = show("/?find=agent-00");
  await screen.findByRole("grid");
  await press("j", "j", "x");
  expect(await screen.findByText("1 agent selected")).toBeTruthy();
  await waitFor(() => expect(document.activeElement?.textContent).toBe("agent-001"));
  await press("Escape");
  await waitFor(() => expect(screen.queryByText("1 agent selected")).toBeNull());
  view.end();
});

test("a filter of the address holds, and says when nothing fits", async () => {
  const view = show("/?show=crashed");
  expect(await screen.findByText("No agent fits this filter.")).toBeTruthy();
  view.end();
});

test("stopping asks when work is not committed, and tells what could not be done", async () => {
  const [, running] = many;
  const view = show("/", [running as (typeof many)[0]], {
    "GET /v1/agents/id-agent-001/diff": { uncommitted: ["a.go", "b.go"] },
    "POST /v1/agents/id-agent-001/stop": {},
  });
  await screen.findByRole("grid");
  await press("j", "s");
  expect(await screen.findByText(/2 files are not committed/)).toBeTruthy();
  screen.getByText("Stop, keep the files").click();
  await waitFor(() => expect(view.asked.some((one) => one.line === "POST /v1/agents/id-agent-001/stop")).toBe(true));
  view.end();
});
