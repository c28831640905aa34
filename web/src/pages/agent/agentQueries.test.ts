import { expect, test } from "vitest";
import { agentOf, cwWith, refuse } from "../../testing/fakes";
import { uncommittedNow } from "./agentQueries";

test("what is not committed is asked of every project, as it is now", async () => {
  let files = ["a.go"];
  const { cw } = cwWith({ "GET /v1/agents/id-sly-stoat/diff": () => ({ uncommitted: files }) });
  const agent = agentOf("sly-stoat", { projects: [{ project: "shop" }, { project: "site" }] as never });
  expect(await uncommittedNow(cw.client, cw.queries, agent)).toEqual(["a.go", "a.go"]);
  files = ["b.go"];
  expect(await uncommittedNow(cw.client, cw.queries, agent)).toEqual(["b.go", "b.go"]);
});

test("a worktree that cannot be read keeps nobody from stopping", async () => {
  const { cw } = cwWith({ "GET /v1/agents/id-sly-stoat/diff": refuse(500, "internal", "no worktree") });
  expect(await uncommittedNow(cw.client, cw.queries, agentOf("sly-stoat", { projects: [{ project: "shop" }] as never }))).toEqual([]);
});
