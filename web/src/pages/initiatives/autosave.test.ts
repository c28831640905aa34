import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Problem } from "../../api/problem";
import { Autosave, type Keeper } from "./autosave";

const refused = new Problem(409, "refused", "the page changed since");

function page(revision = 1, text = "old") {
  const now = { revision, text, online: true };
  const keeper: Keeper<string> = {
    save: (draft) => {
      if (!now.online) return Promise.reject(Problem.unreachable(null));
      if (draft.revision !== now.revision) return Promise.reject(refused);
      now.text = draft.content;
      return Promise.resolve(++now.revision);
    },
    load: () => (now.online ? Promise.resolve({ revision: now.revision, content: now.text, by: "agent:calm-heron" }) : Promise.reject(Problem.unreachable(null))),
  };
  return { now, keeper, save: new Autosave<string>(revision, keeper, sessionStorage, "draft") };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  sessionStorage.clear();
});

test("stores 800 ms after the last key, once", async () => {
  const { now, save } = page();
  save.edit("a");
  await vi.advanceTimersByTimeAsync(700);
  save.edit("ab");
  await vi.advanceTimersByTimeAsync(700);
  expect(now.text).toBe("old");
  await vi.advanceTimersByTimeAsync(100);
  expect(now).toMatchObject({ text: "ab", revision: 2 });
  expect(save.state.get().kind).toBe("saved");
  expect(sessionStorage.length).toBe(0);
});

test("what is written while it is being stored is stored after it", async () => {
  const { now, save } = page();
  save.edit("a");
  const first = save.flush();
  save.edit("ab");
  await first;
  expect(now.text).toBe("a");
  await vi.advanceTimersByTimeAsync(800);
  expect(now).toMatchObject({ text: "ab", revision: 3 });
});

test("one save at a time, however many wait for it", async () => {
  const { now, keeper, save } = page();
  const { save: store } = keeper;
  let open = 0;
  let most = 0;
  keeper.save = async (draft) => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 50));
    open--;
    return store(draft);
  };
  save.edit("a");
  const flushes = [save.flush()];
  save.edit("ab");
  flushes.push(save.flush(), save.flush());
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all(flushes);
  expect(most).toBe(1);
  expect(now).toMatchObject({ text: "ab", revision: 3 });
  expect(save.state.get().kind).toBe("saved");
});

test("nothing is sent while it is looked up why a save was refused", async () => {
  const { now, keeper, save } = page();
  const { load } = keeper;
  const sent = vi.spyOn(keeper, "save");
  keeper.load = () => new Promise((resolve) => setTimeout(resolve, 50)).then(load);
  Object.assign(now, { text: "theirs", revision: 2 });
  save.edit("mine");
  const first = save.flush();
  await vi.advanceTimersByTimeAsync(10);
  const second = save.flush();
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all([first, second]);
  expect(sent).toHaveBeenCalledTimes(1);
  expect(save.state.get().kind).toBe("conflict");
});

test("somebody else's change is not written over", async () => {
  const { now, save } = page();
  save.edit("mine");
  Object.assign(now, { text: "theirs", revision: 2 });
  await vi.advanceTimersByTimeAsync(800);
  expect(now.text).toBe("theirs");
  expect(save.state.get()).toMatchObject({ kind: "conflict", theirs: { content: "theirs", by: "agent:calm-heron" } });
  save.edit("mine too");
  await vi.advanceTimersByTimeAsync(5000);
  expect(now.text).toBe("theirs");
  await save.keepMine();
  expect(now).toMatchObject({ text: "mine too", revision: 3 });
});

test("taking theirs forgets what was written here", async () => {
  const { now, save } = page();
  save.edit("mine");
  Object.assign(now, { text: "theirs", revision: 2 });
  await vi.advanceTimersByTimeAsync(800);
  expect(save.takeTheirs()).toBe("theirs");
  expect([save.pending, sessionStorage.length, save.base]).toEqual([false, 0, 2]);
});

test("without a daemon the text is kept, and stored when it is back", async () => {
  const { now, save } = page();
  now.online = false;
  save.edit("mine");
  await vi.advanceTimersByTimeAsync(800);
  expect(save.state.get().kind).toBe("kept");
  now.online = true;
  await vi.advanceTimersByTimeAsync(5000);
  expect(now.text).toBe("mine");
});

test("a reload loses nothing, and overwrites nothing", async () => {
  const { now, save, keeper } = page();
  save.edit("mine");
  save.stop(); // the page is left before it was stored
  const next = new Autosave<string>(2, keeper, sessionStorage, "draft");
  expect(next.takeUp()).toBe("mine");
  Object.assign(now, { text: "theirs", revision: 2 });
  await vi.advanceTimersByTimeAsync(800);
  expect(next.state.get().kind).toBe("conflict");
  expect(now.text).toBe("theirs");
});

test("a refusal that is no conflict says why", async () => {
  const { save, keeper } = page();
  keeper.save = () => Promise.reject(refused); // its initiative is archived
  save.edit("mine");
  await vi.advanceTimersByTimeAsync(800);
  expect(save.state.get()).toMatchObject({ kind: "failed", error: refused });
  expect(save.pending).toBe(true);
});
