import { afterEach, expect, test, vi } from "vitest";
import { Client } from "./client";
import { Session } from "./session";

afterEach(() => vi.unstubAllGlobals());

/** A session, and how often it told of a change. */
function watched() {
  const session = new Session(localStorage);
  const told = vi.fn();
  session.subscribe(told);
  return { session, told };
}

test("what another tab does to the session is told here", () => {
  const { session, told } = watched();
  localStorage.setItem("cw.session.id", "one");
  localStorage.setItem("cw.session", "cwd_1");
  dispatchEvent(new StorageEvent("storage", { key: "cw.session" }));
  expect(told).toHaveBeenCalledTimes(1);
  expect(session.token).toBe("cwd_1");
  localStorage.clear();
  dispatchEvent(new StorageEvent("storage", { key: null }));
  expect(told).toHaveBeenCalledTimes(2);
  expect(session.token).toBeNull();
  dispatchEvent(new StorageEvent("storage", { key: "cw.theme" }));
  expect(told).toHaveBeenCalledTimes(2);
});

test("a refusal without a token says that there is none", async () => {
  const { session, told } = watched();
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ code: "unauthorized", message: "a token is needed" }, { status: 401 })));
  await expect(new Client(session).get("/v1/status")).rejects.toMatchObject({ status: 401 });
  expect(told).toHaveBeenCalledTimes(1);
});

test("a refusal of an older token leaves the one that replaced it", () => {
  const { session, told } = watched();
  session.keep({ id: "two", token: "cwd_2" });
  session.drop("cwd_1");
  session.drop(null);
  expect(session.token).toBe("cwd_2");
  expect(told).toHaveBeenCalledTimes(1);
});
