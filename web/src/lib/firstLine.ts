import { oneLine } from "./words";

/** The first line of a text that says something. */
export function firstLine(text: string): string {
  return oneLine(/^\s*(.*)$/m.exec(text.slice(0, 2000).trimStart())?.[1] ?? "");
}
