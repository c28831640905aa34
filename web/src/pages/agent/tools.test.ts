import { expect, test } from "vitest";
import { shortPath, subjectOf, tookWords, verbOf } from "./tools";

test.each([
  ["Bash", "Run"], ["run_shell_command", "Run"], ["execute", "Run"], ["MultiEdit", "Edit"], ["apply_patch", "Edit"], ["Write", "Write"], ["Read", "Read"],
  ["Grep", "Search"], ["ls", "Search"], ["WebFetch", "Fetch"], ["TodoWrite", "Plan"], ["mcp__cw__question", "Ask"], ["Task", "Delegate"], ["strange", "Use"], ["", "Use"],
])("%s: %s", (tool, word) => expect(verbOf(tool).word).toBe(word));

test.each([
  ["shell", { command: "/bin/bash -lc 'sleep 60; echo finished'" }, "sleep 60; echo finished"],
  ["shell", { command: "bash -lc \"echo \\\"a\\\" \\$B\"" }, 'echo "a" $B'],
  ["run_commands", { commands: ["go", "test"] }, "go test"],
  ["apply_patch", { changes: [{ path: "n.txt", kind: "add" }] }, "n.txt"],
  ["AskUserQuestion", { questions: [{ question: "Which port?" }] }, "Which port?"],
  ["strange", { title: "x" }, "strange x"],
  ["Bash", null, ""],
  ["Bash", "text", ""],
])("%s %j is about %s", (tool, input, want) => expect(subjectOf(tool, input)).toBe(want));

test("paths are shown from the agent's folder", () => {
  expect(shortPath("/srv/wt/a/b.go", ["", "/srv/wt"])).toBe("a/b.go");
  expect(shortPath("/srv/wt2/b.go", ["/srv/wt"])).toBe("/srv/wt2/b.go");
});

test.each([[Number.NaN, ""], [99, ""], [2100, "2.1 s"], [9960, "9 s"], [48_000, "48 s"], [180_000, "3 m"]])("a call that took %d ms: %j", (ms, words) => expect(tookWords(ms)).toBe(words));
