import { expect, test } from "vitest";
import { bytes, count, dollars, oneLine, span, spanInWords, tokens } from "./words";

test.each([
  [-5, "0 s"], [59_999, "59 s"], [60_000, "1 m"], [3_840_000, "1h 04m"], [200 * 3_600_000, "8 d"],
])("span(%d)", (ms, want) => expect(span(ms)).toBe(want));

test.each([[1000, "1 second"], [120_000, "2 minutes"], [3_600_000, "1 hour"]])("spanInWords(%d)", (ms, want) => expect(spanInWords(ms)).toBe(want));

test.each([[0, "$0.00"], [0.001, "<$0.01"], [1.839, "$1.84"], [1234.5, "$1,234.50"]])("dollars(%d)", (n, want) => expect(dollars(n)).toBe(want));

test.each([[999, "999"], [124_300, "124k"], [2_100_000, "2.1M"]])("tokens(%d)", (n, want) => expect(tokens(n)).toBe(want));

test.each([[512, "512 B"], [1_500, "1.5 kB"], [212e9, "212 GB"]])("bytes(%d)", (n, want) => expect(bytes(n)).toBe(want));

test("count", () => expect([count(1, "task"), count(2, "task"), count(2, "query", "queries")]).toEqual(["1 task", "2 tasks", "2 queries"]));

test("one line of an agent steers nothing", () => {
  expect(oneLine("a\n\tb\u202ec\u200b\u001b[31md ")).toBe("a bc[31md");
});
