import type { Schema } from "../api/client";
import { agentMark } from "../ui/status";
import { places } from "./links";

/** One thing that the palette leads to or does. */
export interface PaletteItem {
  id: string;
  group: "Actions" | "Pages" | "Initiatives" | "Agents";
  icon: string;
  tone?: string;
  text: string;
  /** What else is known of it; searched, too. */
  more: string;
  run: () => void;
}

interface Leads {
  go: (to: string) => void;
  newAgent: () => void;
  theme: () => void;
}

/** Everything that can be reached, actions and pages first. */
export function paletteItems(agents: Schema<"AgentView">[], initiatives: Schema<"Initiative">[], leads: Leads): PaletteItem[] {
  return [
    { id: "new-agent", group: "Actions", icon: "u-plus", text: "New agent", more: "start spawn run", run: leads.newAgent },
    { id: "theme", group: "Actions", icon: "u-gear", text: "Light or dark", more: "theme colours", run: leads.theme },
    ...places.map((place): PaletteItem => ({ id: place.to, group: "Pages", icon: place.icon, text: place.text, more: "", run: () => leads.go(place.to) })),
    ...initiatives.map((one): PaletteItem => ({
      id: `initiative:${one.id}`,
      group: "Initiatives",
      icon: "u-init",
      text: one.name,
      more: one.status === "archived" ? "archived" : one.slug,
      run: () => leads.go(`/initiatives/${encodeURIComponent(one.slug)}`),
    })),
    ...agents.map((one): PaletteItem => {
      const mark = agentMark(one);
      return { id: `agent:${one.id}`, group: "Agents", icon: mark.icon, tone: mark.tone, text: one.name, more: one.title, run: () => leads.go(`/agents/${encodeURIComponent(one.name)}`) };
    }),
  ];
}

/** As many as are shown. */
export const MOST = 50;

/** Those that have all words, best first: the text begins with what was typed, has it, or what is known beside it has. */
export function found(items: PaletteItem[], typed: string): PaletteItem[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return items.slice(0, MOST);
  const words = wanted.split(/\s+/);
  const rank = (item: PaletteItem): number => {
    const text = item.text.toLowerCase();
    const all = `${text} ${item.more.toLowerCase()} ${item.group.toLowerCase()}`;
    if (!words.every((word) => all.includes(word))) return -1;
    return text.startsWith(wanted) ? 0 : words.every((word) => text.includes(word)) ? 1 : 2;
  };
  return items
    .map((item) => ({ item, at: rank(item) }))
    .filter((one) => one.at >= 0)
    .sort((a, b) => a.at - b.at)
    .slice(0, MOST)
    .map((one) => one.item);
}
