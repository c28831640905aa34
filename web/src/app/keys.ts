import { useEffect, useRef } from "react";
import { Store, useStore } from "../lib/store";
import { overlay } from "./overlays";

/** One key of a page. */
export interface Key {
  /** As KeyboardEvent.key says it, with modifiers before it: "j", "Enter", "shift+m", "mod+k". */
  key: string;
  /** What it does, in a word or two: "move", "answer". */
  does: string;
  run: (event: KeyboardEvent) => void;
  /** Shown in the status bar. All are shown by "?". */
  hint?: boolean;
  /** Works while somebody types, too. */
  typing?: boolean;
}

interface Layer {
  name: string;
  keys: Key[];
}

/** The layers of keys, the innermost last. An inner layer's key wins. */
export const layers = new Store<Layer[]>([]);

/** The name of the key that was pressed, with its modifiers. */
export function nameOf(event: Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">): string {
  const mod = event.ctrlKey || event.metaKey ? "mod+" : "";
  const alt = event.altKey ? "alt+" : "";
  const letter = event.key.length === 1;
  // Shift is part of what a sign is ("?"), but not of what a letter is.
  const shift = event.shiftKey && (!letter || /[a-z]/i.test(event.key)) ? "shift+" : "";
  return mod + alt + shift + (letter ? event.key.toLowerCase() : event.key);
}

/** Whether somebody writes there, so that letters are letters. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit", "range"].includes(target.type);
}

/** A button, link or the like does by itself what Enter and space do. */
function actsItself(target: EventTarget | null, name: string): boolean {
  return (name === "Enter" || name === " ") && target instanceof HTMLElement && target.closest("button, a[href], summary, input, [role=menuitem]") !== null;
}

/** The key that a press means; null: none of ours. */
export function pressed(stack: Layer[], event: KeyboardEvent): Key | null {
  if (event.defaultPrevented || event.isComposing) return null;
  const name = nameOf(event);
  const typing = isTyping(event.target);
  if (actsItself(event.target, name)) return null;
  for (const layer of [...stack].reverse()) {
    const key = layer.keys.find((one) => one.key === name && (!typing || one.typing === true));
    if (key) return key;
  }
  return null;
}

/** Listens to keys until the signal ends it. */
export function runKeys(signal: AbortSignal): void {
  addEventListener(
    "keydown",
    (event) => {
      // A dialog that is open, or about to be, has the keys for itself.
      if (overlay.get() !== null || document.querySelector("dialog[open]:not([data-keys])")) return;
      const key = pressed(layers.get(), event);
      if (!key) return;
      event.preventDefault();
      key.run(event);
    },
    { signal },
  );
}

/**
 * Gives a part of the page keys for as long as it is there. What a key does may
 * change from one paint to the next; which keys there are, too.
 */
export function useKeys(name: string, keys: Key[]): void {
  useLayer(name, keys, (all, layer) => [...all, layer]);
}

/** The same for what lies around all pages: a page's own key wins, whichever came first. */
export function useOuterKeys(name: string, keys: Key[]): void {
  useLayer(name, keys, (all, layer) => [layer, ...all]);
}

function useLayer(name: string, keys: Key[], put: (all: Layer[], layer: Layer) => Layer[]): void {
  const place = useRef(put);
  const now = useRef(keys);
  now.current = keys;
  const shape = keys.map((key) => `${key.key}\t${key.does}\t${key.hint === true}\t${key.typing === true}`).join("\n");
  useEffect(() => {
    const layer: Layer = {
      name,
      keys: now.current.map((key) => ({ ...key, run: (event) => now.current.find((one) => one.key === key.key)?.run(event) })),
    };
    layers.set(place.current(layers.get(), layer));
    return () => layers.set(layers.get().filter((one) => one !== layer));
  }, [name, shape]);
}

/** The keys that are shown in the status bar: the innermost part's first. */
export function useHints(): Key[] {
  const seen = new Set<string>();
  return [...useStore(layers)].reverse().flatMap((layer) => layer.keys).filter((key) => key.hint === true && !seen.has(key.key) && seen.add(key.key));
}
