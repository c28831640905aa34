import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "./client";
import { Problem } from "./problem";
import { proofOf } from "./proof";
import { endFormer, Session, type Held } from "./session";

const held: Held = { id: "k3v7q2mzt5ha", token: "cwd_example" };

/** What answers at the address: as the daemon of a session that lives or is over, or as it can. */
let answers: "lives" | "over" | "stranger" | "nobody" | "ending";
/** What was asked, and the token that it was told. */
let asked: { line: string; token: string | null }[];
let broken: boolean;

beforeEach(() => {
  answers = "lives";
  asked = [];
  broken = false;
  localStorage.clear();
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(url, "http://cw");
    asked.push({ line: `${init.method ?? "GET"} ${pathname}`, token: new Headers(init.headers).get("Authorization") });
    if (answers === "nobody") throw new TypeError("refused");
    if (answers === "ending") return new Response("{}", { status: 503 });
    if (pathname.endsWith("/proof")) {
      const known = answers === "stranger" ? { ...held, token: "cwd_guess" } : held;
      return Response.json({ proof: await proofOf(known, answers === "over" ? "over" : "lives", location.host, searchParams.get("nonce") ?? "") });
    }
    if (broken) throw new TypeError("reset");
    return Response.json({});
  });
});
afterEach(() => void vi.unstubAllGlobals());

function client(): Client {
  const session = new Session(localStorage);
  session.keep(held);
  return new Client(session);
}

const proofs = () => asked.filter(({ line }) => line.endsWith("/proof")).length;
const told = () => asked.filter(({ token }) => token !== null).length;
const codeOf = (what: Promise<unknown>) => what.then(() => "", (error: unknown) => (error as Problem).code);

test("it is what the daemon computes", async () => {
  // internal/cw/proof_test.go has the same example.
  expect(await proofOf(held, "lives", "127.0.0.1:7420", "0123456789abcdef")).toBe("7e94286d76608776c63d0e6af6188426c36626a2c7d691423b7599cdadab4a54");
});

test("many requests wait for one proof, which is sent without the token", async () => {
  const cw = client();
  await Promise.all([cw.get("/v1/agents"), cw.get("/v1/status"), cw.post("/v1/gc" as never)]);
  await cw.get("/v1/agents");
  expect(asked[0]).toEqual({ line: "GET /v1/sessions/k3v7q2mzt5ha/proof", token: null });
  expect([proofs(), told()]).toEqual([1, 4]);
});

test("a stranger is told nothing, the session stays, and the daemon is gone on with", async () => {
  const cw = client();
  answers = "stranger";
  expect(await codeOf(cw.get("/v1/agents"))).toBe("stranger");
  expect(await codeOf(cw.post("/v1/gc" as never))).toBe("stranger");
  expect(told()).toBe(0);
  expect(cw.session.held).toEqual(held);
  answers = "lives";
  await cw.get("/v1/agents");
  expect(told()).toBe(1);
});

test("after a lost connection who answers is asked first", async () => {
  const cw = client();
  await cw.get("/v1/agents");
  broken = true;
  expect(await codeOf(cw.get("/v1/agents"))).toBe("unreachable");
  broken = false;
  answers = "stranger";
  expect(await codeOf(cw.get("/v1/agents"))).toBe("stranger");
  expect(told()).toBe(2);
});

test("a doubt during a proof counts: it is asked again before anything is sent", async () => {
  const cw = client();
  const first = cw.get("/v1/agents");
  await Promise.resolve();
  cw.trust.doubt();
  await first;
  expect([proofs(), told()]).toEqual([2, 1]);
});

test("who lets go of a request has lost no connection", async () => {
  const cw = client();
  await cw.get("/v1/agents");
  const end = new AbortController();
  broken = true;
  end.abort();
  await expect(cw.get("/v1/agents", { signal: end.signal })).rejects.toThrow();
  broken = false;
  await cw.get("/v1/agents");
  expect(proofs()).toBe(1);
});

test.each(["nobody", "ending"] as const)("%s answers: nothing is sent, and the session stays", async (who) => {
  const cw = client();
  answers = who;
  expect(await codeOf(cw.get("/v1/agents"))).toBe("unreachable");
  expect(told()).toBe(0);
  expect(cw.session.token).toBe(held.token);
});

test("a session that is over is forgotten", async () => {
  const cw = client();
  answers = "over";
  expect(await codeOf(cw.get("/v1/agents"))).toBe("unauthorized");
  expect(told()).toBe(0);
  expect(cw.session.held).toBeNull();
});

test("the session that a new one replaces is ended, at its daemon only", async () => {
  answers = "stranger";
  await endFormer(held);
  answers = "nobody";
  await endFormer(held);
  expect(told()).toBe(0);
  answers = "lives";
  await endFormer(held);
  expect(asked.at(-1)).toEqual({ line: "DELETE /v1/sessions/self", token: `Bearer ${held.token}` });
});
