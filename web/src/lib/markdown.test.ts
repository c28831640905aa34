import { expect, test } from "vitest";
import { blocksOf, inlineOf } from "./markdown";

test("blocks", () => {
  expect(blocksOf("# Head\nOne\ntwo\n\n- a\n  - b\n\n1. c\n```go\nx := 1\n```\n> said\n---").map((one) => one.kind)).toEqual(["heading", "paragraph", "list", "list", "code", "quote", "rule"]);
});

test("a block of code without an end is code to the end", () => {
  expect(blocksOf("a\n```\n# no head\n<b>")).toEqual([{ kind: "paragraph", parts: [{ kind: "text", text: "a" }] }, { kind: "code", text: "# no head\n<b>" }]);
});

test("pieces of a line", () => {
  expect(inlineOf("Run `go test` **now**, see https://example.com/a_b.")).toEqual([
    { kind: "text", text: "Run " }, { kind: "code", text: "go test" }, { kind: "text", text: " " }, { kind: "bold", text: "now" },
    { kind: "text", text: ", see " }, { kind: "link", text: "https://example.com/a_b", href: "https://example.com/a_b" }, { kind: "text", text: "." },
  ]);
});

test.each(["javascript:alert(1)", "data:text/html,x", "//example.com", "JaVaScRiPt:x", "vbscript:x"])("%s is no link", (href) => {
  expect(inlineOf(`[x](${href})`).every((one) => one.kind === "text")).toBe(true);
});

test("names with signs in them stay names", () => {
  expect(inlineOf("a*b*c snake_case_name 2 * 3 * 4")).toEqual([{ kind: "text", text: "a*b*c snake_case_name 2 * 3 * 4" }]);
});
