import { describe, expect, it } from "vitest";
import type { Schema } from "../../api/client";
import type { Token } from "../../api/settingsQueries";
import { alive, kindOf } from "./access";
import { quoted } from "./ConfigList";
import { trustOf } from "./trust";

const file = (more: object) => ({ present: true, trusted: false, file: { setup: [], checks: [], teardown: [] }, ...more }) as unknown as Schema<"ProjectFileView">;

describe("the trust in a cw.yaml", () => {
  it.each([
    [{ problem: "line 3" }, "cw.yaml is wrong"],
    [{ present: false, trusted: true }, "no cw.yaml"],
    [{ trusted: false }, "not trusted"],
    [{ trusted: true }, "runs nothing"],
    [{ trusted: true, file: { checks: [{}] } }, "trusted"],
  ])("%o: %s", (more, word) => expect(trustOf(file(more)).word).toBe(word));
});

describe("a token", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  it.each([
    [{}, true],
    [{ revokedAt: "2026-11-20T12:00:00Z" }, false],
    [{ expiresAt: "2026-11-20T12:00:00Z" }, false],
    [{ expiresAt: "2026-11-22T12:00:00Z" }, true],
  ])("%o lives: %s", (token, want) => expect(alive(token as Token, now)).toBe(want));
  it("is a browser's, or a dashboard's", () => expect([kindOf({ session: true } as Token), kindOf({ kind: "dashboard" } as Token)]).toEqual(["browser session", "token"]));
});

it.each([["10", "10"], ["a,b:c", "a,b:c"], ["two words", "'two words'"], ["it's", "'it'\\''s'"], ["$(x)", "'$(x)'"]])("%s is typed as %s", (value, want) => expect(quoted(value)).toBe(want));
