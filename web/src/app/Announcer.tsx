import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { inboxQuery } from "../api/queries";
import type { Schema } from "../api/client";
import { oneLine } from "../lib/words";
import { useCw } from "./cw";
import { tellDesktop } from "./desktopNotices";

type Item = Schema<"InboxItem">;

/** What is told when it is new: questions and crashes alone. */
const told: Partial<Record<Item["kind"], string>> = { question: "asks", crashed: "crashed" };

/** Who did what; nothing of most items. */
function headline(item: Item): string {
  const does = told[item.kind];
  return does ? `${item.agent ?? "An agent"} ${does}` : "";
}

/** What is said of a new item; nothing of most. */
export function words(item: Item): string {
  const head = headline(item);
  return head && `${head}: ${oneLine(item.text)}`;
}

/** Says new questions and crashes to screen readers, and on the desktop when that is switched on. */
export function Announcer() {
  const { client } = useCw();
  const items = useQuery(inboxQuery(client)).data?.items;
  const navigate = useNavigate();
  const known = useRef<Set<string> | null>(null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!items) return;
    const before = known.current;
    known.current = new Set(items.map((item) => item.key));
    if (!before) return; // what waits already is no news
    const fresh = items.filter((item) => !before.has(item.key) && words(item) !== "");
    if (fresh.length > 0) setSaid(fresh.map(words).join(". "));
    for (const item of fresh) tellDesktop(headline(item), oneLine(item.text), item.key, () => void navigate({ to: "/", search: { item: item.key } }));
  }, [items, navigate]);
  return <div aria-live="polite" className="sr-only">{said}</div>;
}
