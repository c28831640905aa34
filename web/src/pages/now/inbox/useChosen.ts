import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { shownItems, waitOf, type Item, type Shown } from "./items";

export interface Chosen {
  shown: Shown[];
  key: string | null;
  choose: (key: string | null) => void;
  /** Moves to the one after or before. */
  move: (by: number) => void;
  /** It was dealt with here: it goes, and the next one is chosen. */
  finish: (item: Item) => void;
}

/** Which item is open. It stays so while others come and go; the address says it when somebody chose it. */
export function useChosen(items: Item[]): Chosen {
  const { item: linked } = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const [key, setKey] = useState<string | null>(linked ?? null);
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<{ item: Item; place: number } | null>(null);
  const told = useRef(linked);
  useEffect(() => {
    if (linked === told.current) return;
    told.current = linked;
    if (linked) setKey(linked);
  }, [linked]);

  const shown = shownItems(items, done, last.current?.item.key === key ? last.current : null);
  const place = shown.findIndex((one) => one.item.key === key);
  const here = shown[place] ?? shown[0] ?? null;
  // The first one is as good as chosen: what comes before it later does not take its place.
  const open = here?.item.key ?? null;
  useEffect(() => {
    if (open !== null && open !== key) setKey(open);
  }, [open, key]);
  if (here) last.current = { item: here.item, place: Math.max(place, 0) };

  const choose = (next: string | null) => {
    setKey(next);
    told.current = next ?? undefined;
    void navigate({ search: (before) => ({ ...before, item: next ?? undefined }), replace: true, resetScroll: false });
  };
  useEffect(() => {
    // What is no longer told of need not be remembered.
    setDone((before) => {
      const still = [...before].filter((key) => items.some((item) => waitOf(item) === key));
      return still.length === before.size ? before : new Set(still);
    });
  }, [items]);
  const now = useRef({ shown, open, choose });
  now.current = { shown, open, choose };
  const left = useRef(false);
  useEffect(() => () => void (left.current = true), []);
  const at = Math.max(place, 0);
  return {
    shown,
    key: open,
    choose,
    move: (by) => {
      const next = shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
      if (next) choose(next.item.key);
    },
    finish: (gone) => {
      // An answer may be stored when somebody is at another item, or left the page.
      if (left.current) return;
      setDone((before) => new Set(before).add(waitOf(gone)));
      const { shown, open, choose } = now.current;
      const index = shown.findIndex((one) => one.item.key === gone.key);
      const next = shown[index + 1] ?? shown[index - 1];
      if (open === gone.key) choose(next?.item.key ?? null);
    },
  };
}
