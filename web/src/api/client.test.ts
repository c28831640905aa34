import { expect, test } from "vitest";
import { address } from "./client";
import { codeIn } from "./session";

test.each([
  ["/v1/agents/{id}", { id: "a b/../c" }, undefined, "/v1/agents/a%20b%2F..%2Fc"],
  ["/v1/agents", undefined, { limit: 5, cursor: undefined, status: "" }, "/v1/agents?limit=5"],
  ["/v1/agents", undefined, {}, "/v1/agents"],
])("address %s", (path, parameters, query, want) => {
  expect(address(path, parameters, query)).toBe(want);
});

test.each([
  ["#code=abc-1_2", "abc-1_2"],
  ["#other=1", null],
  ["", null],
])("code in %s", (hash, want) => {
  expect(codeIn(hash)).toBe(want);
});
