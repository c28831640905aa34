import { afterEach, expect, test } from "vitest";
import { createElement, type ReactNode } from "react";
import { render } from "@testing-library/preact";
import type { ComponentChild } from "preact";
import { layers, nameOf, pressed, runKeys, useKeys, useOuterKeys, type Key } from "./keys";
import { overlay } from "./overlays";

const none = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

test.each([
  [{ ...none, key: "j" }, "j"],
  [{ ...none, key: "M", shiftKey: true }, "shift+m"],
  [{ ...none, key: "?", shiftKey: true }, "?"],
  [{ ...none, key: "k", metaKey: true }, "mod+k"],
  [{ ...none, key: "k", ctrlKey: true }, "mod+k"],
  [{ ...none, key: "Enter" }, "Enter"],
])("name of %o", (event, want) => {
  expect(nameOf(event)).toBe(want);
});

afterEach(() => document.body.replaceChildren());

function press(tag: string, key: string): KeyboardEvent {
  const target = document.body.appendChild(document.createElement(tag));
  const event = new KeyboardEvent("keydown", { key, bubbles: true });
  target.dispatchEvent(event);
  return event;
}

const act = (key: string, more: Partial<Key> = {}): Key => ({ key, does: key, run: () => undefined, ...more });

test("letters never act while somebody types", () => {
  const stack = [{ name: "page", keys: [act("s"), act("Escape", { typing: true })] }];
  expect(pressed(stack, press("main", "s"))?.key).toBe("s");
  expect(pressed(stack, press("textarea", "s"))).toBeNull();
  expect(pressed(stack, press("textarea", "Escape"))?.key).toBe("Escape");
});

test("the innermost part's key wins, and a button keeps its own", () => {
  const outer = act("Enter");
  const inner = act("Enter");
  const stack = [{ name: "page", keys: [outer] }, { name: "inbox", keys: [inner] }];
  expect(pressed(stack, press("main", "Enter"))).toBe(inner);
  expect(pressed(stack, press("button", "Enter"))).toBeNull();
});

test("keys of the page do nothing while something is about to lie over it", () => {
  const end = new AbortController();
  let acted = 0;
  layers.set([{ name: "page", keys: [act("s", { run: () => acted++ })] }]);
  runKeys(end.signal);
  overlay.set("palette");
  press("main", "s");
  expect(acted).toBe(0);
  overlay.set(null);
  press("main", "s");
  expect(acted).toBe(1);
  end.abort();
  layers.set([]);
});

function Page() {
  useKeys("page", [act("c")]);
  return null;
}

function Around({ children }: { children?: ReactNode }) {
  useOuterKeys("frame", [act("c")]);
  return children;
}

test("a page's key wins over that of the frame, though effects of the frame run later", () => {
  render(createElement(Around, null, createElement(Page)) as unknown as ComponentChild);
  expect(layers.get().map((layer) => layer.name)).toEqual(["frame", "page"]);
});
