import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../api/eventLog";
import { merged } from "./useLog";
import { groupOf, groups, matches, typesOf } from "./groups";
import { known, sentence } from "./sentence";

interface SchemaNode {
  $ref?: string;
  enum?: string[];
  type?: string | string[];
  allOf?: SchemaNode[];
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  items?: SchemaNode;
  properties?: Record<string, SchemaNode>;
}

const api = JSON.parse(readFileSync(join(import.meta.dirname, "../../../../docs/openapi.json"), "utf8")) as { components: { schemas: Record<string, SchemaNode> } };
const all = api.components.schemas.EventType?.enum ?? [];
const follow = (node: SchemaNode): SchemaNode => (node.$ref ? (api.components.schemas[node.$ref.split("/").at(-1) ?? ""] ?? {}) : node);

/** Something that has the form of a schema. */
function sampleOf(node: SchemaNode, name: string): unknown {
  const one = follow(node);
  const type = [one.type].flat()[0];
  if (one.enum) return one.enum[0];
  if (one.properties) return Object.fromEntries(Object.entries(one.properties).map(([field, value]) => [field, sampleOf(value, field)]));
  if (type === "array") return [sampleOf(one.items ?? {}, name)];
  if (type === "integer" || type === "number") return 3;
  return type === "boolean" ? true : `<${name}>`;
}

/** The payload of a type, as the schema has it. */
function payloadOf(type: string): unknown {
  for (const ref of api.components.schemas.AnyEvent?.oneOf ?? api.components.schemas.AnyEvent?.anyOf ?? []) {
    const own = follow(ref).allOf?.[1]?.properties;
    if (own?.type?.enum?.[0] === type) return sampleOf(own.data ?? {}, "data");
  }
  return {};
}

describe("a sentence", () => {
  it("is there for every type of the API", () => expect([...known].sort()).toEqual([...all].sort()));

  it.each(all)("tells %s in plain words", (type) => {
    const said = sentence({ type, data: payloadOf(type) });
    expect(said).not.toMatch(/undefined|null|NaN|\[object|\?\/| {2}|: :|:$/);
    expect(said).toMatch(/^[A-Z0-9<]/);
    expect(said).not.toMatch(/[.!]$/);
    expect(said.length).toBeGreaterThan(8);
  });

  it.each(all)("tells %s without its payload, too", (type) => {
    expect(sentence({ type })).not.toMatch(/undefined|null|NaN/);
  });

  it.each([
    ["agent:crashed", { name: "brave-otter", reason: "exit_code", error: "exit 1" }, "brave-otter crashed (exit code): exit 1"],
    ["agent:account_switched", { name: "brave-otter", toProvider: "claude", toName: "team-1" }, "brave-otter moved to claude/team-1, no work lost"],
    ["plan:step_completed", { name: "brave-otter", title: "Read", done: 1, of: 4, status: "skipped" }, "brave-otter skipped: Read (1 of 4 done)"],
    ["dispatch:changed", { state: "paused" }, "The dispatcher is paused: nothing is started or merged"],
    ["later:thing", {}, "later:thing"],
    ["question:requested", { name: "brave-otter", question: "a\u202eb\n\u001b[31mc" }, "brave-otter asks: ab [31mc"],
  ])("of %s with %o", (type, data, want) => expect(sentence({ type, data })).toBe(want));
});

it("shows an event once that came live and was read, too", () => {
  const events = (...seqs: number[]) => seqs.map((seq) => ({ seq }) as LoggedEvent);
  expect(merged(events(7, 5), events(6, 5, 4)).map((one) => one.seq)).toEqual([7, 6, 5, 4]);
});

describe("filters", () => {
  it("have each type in one group", () => {
    for (const type of all) expect(groups.filter((group) => group === groupOf(type))).toHaveLength(1);
  });
  it("never ask for what is not stored", () => expect(typesOf("agents")).not.toContain("agent:output"));
  it("know one type by its name", () => expect(typesOf("agent:crashed")).toEqual(["agent:crashed"]));
  it.each([
    [{ seq: 1, type: "agent:crashed", agentId: "a" }, {}, true],
    [{ type: "agent:crashed", agentId: "a" }, {}, false],
    [{ seq: 1, type: "agent:crashed", agentId: "a" }, { type: "agents", agent: "a" }, true],
    [{ seq: 1, type: "agent:crashed", agentId: "a" }, { agent: "b" }, false],
    [{ seq: 1, type: "agent:crashed", agentId: "a" }, { type: "merges" }, false],
    [{ seq: 1, type: "task:changed", initiativeId: "i" }, { initiative: "i" }, true],
    [{ seq: 1, type: "task:changed" }, { initiative: "i" }, false],
  ])("%o by %o: %s", (event, filter, want) => expect(matches(event, filter)).toBe(want));
});
