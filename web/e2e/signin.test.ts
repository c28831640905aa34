import { createServer, type Server } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, live, shown, signedIn, visit, visitor } from "./browser";
import { Lab, sleep } from "./lab";

/** How long a one-time code is good, and some. */
const CODE = 62_000;
const NO_SESSION = /This browser has no session/;

let lab: Lab;
let browser: Browser;
let early: { address: string; at: number };

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch()]);
  early = { address: await lab.address(), at: Date.now() };
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

/** Another program at the address of the dashboard, and all that it was told. */
async function stranger(origin: string): Promise<{ told: string[]; server: Server }> {
  const told: string[] = [];
  const server = createServer((request, response) => {
    const head = `${request.method} ${request.url} ${JSON.stringify(request.headers)}`;
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      told.push(head + body);
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ proof: "0".repeat(64) }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(Number(new URL(origin).port), "127.0.0.1", resolve);
  });
  return { told, server };
}

function end(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

const tokens = () => lab.json<{ id: string; revokedAt?: string }[]>("token", "list");

const tokenOf = (seen: { page: { evaluate: (f: () => string | null) => Promise<string | null> } }) => seen.page.evaluate(() => localStorage.getItem("cw.session"));

test("a code is good once, and is seen nowhere", async () => {
  const address = await lab.address();
  const code = new URL(address).hash.replace("#code=", "");
  const first = await visitor(browser, new URL(address).origin);
  await first.page.goto(address);
  await shown(first.page);
  await live(first.page);
  expect(first.page.url()).not.toContain("code");
  await visit(first, "/activity");
  const token = await tokenOf(first);
  expect(token).toBeTruthy();

  const second = await visitor(browser, first.origin);
  second.allow(/answer 4\d\d: .*\/v1\/sessions/);
  await second.page.goto(address);
  await second.page.getByRole("alert").waitFor();
  expect(await tokenOf(second)).toBeNull();
  expect(second.page.url()).not.toContain("code");
  await leave(second);

  for (const { url, referer } of first.requests) {
    expect(`${url} ${referer}`).not.toContain(code);
    expect(`${url} ${referer}`).not.toContain(token);
    expect(referer).toBe("");
  }
  expect(lab.logs().length).toBeGreaterThan(100);
  expect(lab.logs()).not.toContain(code);
  expect(lab.logs()).not.toContain(token);
  expect(await lab.cw("events", "--json")).not.toContain(code);
  expect(await first.context.cookies()).toEqual([]);
  await leave(first);
});

test("who is not signed in is told how, at every address, and sees no data", async () => {
  const seen = await visitor(browser, new URL(early.address).origin);
  for (const path of ["/", "/agents/brave-otter", "/settings?tab=tokens"]) {
    await seen.page.goto(seen.origin + path);
    await seen.page.getByText(NO_SESSION).waitFor();
    await seen.page.getByText("cw open").waitFor();
  }
  expect(seen.requests.filter(({ url }) => url.includes("/v1/"))).toEqual([]);
  await leave(seen);
});

test("a session that is ended asks again, at once", async () => {
  const seen = await signedIn(browser, lab);
  seen.allow(/answer 401|no answer/);
  await live(seen.page);
  const tokens = await lab.json<{ id: string; name: string; createdAt: string }[]>("token", "list");
  const newest = tokens.sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0];
  await lab.cw("token", "revoke", newest?.id ?? "");
  await seen.page.getByText(NO_SESSION).waitFor({ timeout: 15_000 });
  expect(await tokenOf(seen)).toBeNull();
  await leave(seen);
});

test("a code ends after a minute", async () => {
  await sleep(Math.max(0, early.at + CODE - Date.now())); // the tests before took a part of it
  const seen = await visitor(browser, new URL(early.address).origin);
  seen.allow(/answer 4\d\d: .*\/v1\/sessions/);
  await seen.page.goto(early.address);
  await seen.page.getByRole("alert").waitFor();
  expect(await tokenOf(seen)).toBeNull();
  await leave(seen);
});

test("a session outlives the daemon, at the same address", async () => {
  const seen = await signedIn(browser, lab);
  seen.allow(/no answer/);
  await lab.stop();
  await lab.start();
  await seen.page.reload();
  await shown(seen.page);
  await live(seen.page);
  expect(new URL(await lab.address()).origin).toBe(seen.origin);
  await leave(seen);
});

test("a browser that is let in again has one session, the new one", async () => {
  const seen = await signedIn(browser, lab);
  seen.allow(/answer 401|no answer/);
  await live(seen.page);
  const idOf = () => seen.page.evaluate(() => localStorage.getItem("cw.session.id"));
  const former = await idOf();
  await seen.page.goto("about:blank");
  await seen.page.goto(await lab.address());
  await live(seen.page);
  const own = await idOf();
  expect(own).not.toBe(former);
  await expect.poll(async () => (await tokens()).filter(({ id }) => id === former).map(({ revokedAt }) => revokedAt !== undefined)).toEqual([true]);
  expect((await tokens()).filter(({ id, revokedAt }) => id === own && revokedAt === undefined)).toHaveLength(1);
  await leave(seen);
});

test("while the daemon is away another program at its port is told no token, and the daemon is gone on with", async () => {
  const seen = await signedIn(browser, lab);
  // The other program is also asked for a part of the dashboard that was not loaded yet.
  seen.allow(/no answer|Failed to load module script/);
  await live(seen.page);
  const token = (await tokenOf(seen)) ?? "";
  await lab.stop();
  const other = await stranger(seen.origin);
  await seen.page.getByText(/Another program answers at this address/).waitFor({ timeout: 30_000 });
  expect(other.told.length).toBeGreaterThan(0);
  await end(other.server);
  await lab.start();
  await live(seen.page);
  expect(await tokenOf(seen)).toBe(token);
  expect(other.told.join("\n")).not.toContain(token);
  expect(other.told.join("\n").toLowerCase()).not.toContain("authorization");

  await lab.stop();
  const squatter = await stranger(seen.origin);
  await seen.page.getByText(/Another program answers at this address/).waitFor({ timeout: 30_000 });
  await lab.start();
  expect(new URL(await lab.address()).origin).not.toBe(seen.origin);
  expect((await tokens()).filter(({ revokedAt }) => revokedAt === undefined)).toEqual([]);
  expect(squatter.told.join("\n")).not.toContain(token);
  await end(squatter.server);
  await leave(seen);
});
