import { expect, test } from "vitest";
import { above } from "./links";

test.each([
  ["/agents/brave-otter", "/"],
  ["/initiatives/sale", "/initiatives"],
  ["/review/task/x", "/review"],
  ["/review", null],
  ["/", null],
])("above %s is %s", (pathname, want) => {
  expect(above(pathname)).toBe(want);
});
