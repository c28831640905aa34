import type { Lab } from "./lab";
import { ACCEPTED, OPEN, type Planned } from "./hostileplans";

interface Known {
  items: { key: string; kind: string; agent?: string }[];
  conversation: string;
  /** The agent that another one made and told something. */
  told: string;
}

/** Gives the address of a place, by the names that the table of fields has for them. */
export async function addresses(lab: Lab, planned: Planned): Promise<(place: string) => string> {
  const { items } = await lab.json<{ items: Known["items"] }>("inbox");
  const [conversation] = await lab.json<{ id: string }[]>("conversation", "list");
  const agents = await lab.json<{ name: string; title: string }[]>("agent", "list");
  const told = agents.find((one) => one.title === "First");
  return (place) => addressOf(place, planned, { items, conversation: conversation?.id ?? "", told: told?.name ?? "" });
}

function addressOf(place: string, planned: Planned, known: Known): string {
  const [kind = "", name = ""] = place.split(" ");
  const agent = name === "told" ? known.told : name;
  switch (kind) {
    case "now":
      return "/";
    case "found":
      return `/?find=${name}`;
    case "inbox":
      return `/?item=${encodeURIComponent(known.items.find((one) => one.agent === name || one.kind === name)?.key ?? `no item of ${name}`)}`;
    case "talk":
      return `/agents/${agent}`;
    case "raw":
    case "facts":
    case "diff":
      return `/agents/${agent}?view=${kind}`;
    case "review":
      return `/review/agent/${agent}`;
    case "conversation":
      return `/conversations?id=${known.conversation}`;
    case "tree":
      return `/initiatives/${ACCEPTED}`;
    case "page":
      return `/initiatives/${ACCEPTED}?page=${planned.page}`;
    case "task":
      return `/initiatives/${ACCEPTED}?task=${planned.task}`;
    case "timeline":
      return `/initiatives/${ACCEPTED}?view=timeline`;
    case "proposals":
      return `/initiatives/${OPEN}?view=proposals`;
    case "settings":
      return `/settings?tab=${name}`;
  }
  return `/${kind}`;
}
