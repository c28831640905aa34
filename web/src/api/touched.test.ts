import { expect, test } from "vitest";
import { touched } from "./touched";

test.each([
  ["agent:running", "agents"],
  ["question:requested", "inbox"],
  ["merge:red", "inbox"],
  ["proposal:created", "proposals"],
  ["task:changed", "dispatch"],
  ["message:queued", "messages"],
  ["agent:spawned", "diff"],
  ["agent:waiting", "diff"],
  ["agent:stopped", "diff"],
  ["agent:crashed", "diff"],
  ["agent:parked", "diff"],
  ["agent:account_switched", "diff"],
  ["agent:resumed", "diff"],
  ["agent:removed", "diff"],
  ["agent:restored", "diff"],
  ["agent:purged", "diff"],
  ["merge:merged", "diff"],
  ["security:refused", "status"],
])("%s makes %s be read anew", (type, key) => {
  expect(touched({ type })).toContain(key);
});

test.each(["agent:starting", "agent:running", "agent:warning", "agent:stalled", "question:requested", "plan:revised"])("%s leaves every difference as it was", (type) => {
  expect(touched({ type })).not.toContain("diff");
});
