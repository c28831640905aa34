import { screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { cwWith, itemOf } from "../testing/fakes";
import { renderAt } from "../testing/renderAt";
import { Sidebar } from "./Sidebar";

const initiative = (name: string, done: number, tasks: number) => ({ id: name, slug: name, name, status: "active", progress: { done, tasks } });
const links = () => screen.getAllByRole("link").map((one) => one.textContent);

test("pages say how much is on them, and initiatives how far they are, of what the frame reads anyway", async () => {
  const { cw, asked } = cwWith({
    "GET /v1/inbox": { items: [itemOf("question:1"), itemOf("crashed:2"), itemOf("limit:3")] },
    "GET /v1/initiatives": { items: [initiative("Webhooks", 14, 26), initiative("Audit", 0, 0)] },
    "GET /v1/dispatch": { merges: [{ id: "m" }], landing: [{ id: "i" }] },
    "GET /v1/status": { conversations: 2 },
  });
  const view = renderAt(cw, <Sidebar />);
  const want = ["cw", "Now3 wait for you", "Initiatives2 at work", "Review2 to merge or land", "Accounts", "Conversations2 unanswered", "Activity", "Settings", "More", "Webhooks14/26", "Auditdraft"];
  await waitFor(() => expect(links()).toEqual(want));
  expect(asked.map((one) => one.line).sort()).toEqual(["GET /v1/dispatch", "GET /v1/inbox", "GET /v1/initiatives", "GET /v1/status"]);
  view.end();
});

test("what is empty has no number", async () => {
  const { cw } = cwWith({ "GET /v1/inbox": { items: [] }, "GET /v1/initiatives": { items: [] }, "GET /v1/dispatch": { merges: [] }, "GET /v1/status": { conversations: 0 } });
  const view = renderAt(cw, <Sidebar />);
  await waitFor(() => expect(cw.queries.getQueriesData({}).every(([, data]) => data) && links()).toEqual(["cw", "Now", "Initiatives", "Review", "Accounts", "Conversations", "Activity", "Settings", "More"]));
  view.end();
});
