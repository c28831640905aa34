import { expect, test } from "vitest";
import { touched } from "./touched";

test.each([
  ["agent:running", "agents"],
  ["question:requested", "inbox"],
  ["merge:red", "inbox"],
  ["proposal:created", "proposals"],
  ["task:changed", "dispatch"],
  ["security:refused", "status"],
])("%s makes %s be read anew", (type, key) => {
  expect(touched({ type })).toContain(key);
});
