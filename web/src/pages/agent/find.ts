import type { Row } from "./rows";

/** What a person sees of a row, in lower case, for searching. */
function textsOf(row: Row): string[] {
  switch (row.kind) {
    case "run":
      return [];
    case "message":
      return [row.message.body];
    case "questions":
      return row.questions.flatMap((one) => [one.question, one.answer ?? ""]);
  }
  const item = row.item;
  switch (item.kind) {
    case "tool":
      return [item.tool, JSON.stringify(item.input ?? ""), item.result ?? "", ...item.changed.map((one) => one.path)];
    case "plan":
      return item.steps.map((step) => step.title);
    case "note":
      return item.files.map((file) => file.path);
  }
  return [item.text];
}

/** The rows that have a text in them, in any case, by their index. */
export function matchesOf(rows: readonly Row[], text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  return rows.flatMap((row, at) => (textsOf(row).some((one) => one.toLowerCase().includes(wanted)) ? [at] : []));
}

/** The place right before one, so that what comes after it begins with that. */
export function justBefore(place: string): string {
  const [session = "0", offset = "0", n = "0"] = place.split(":");
  return Number(n) > 0 ? `${session}:${offset}:${Number(n) - 1}` : `${session}:${offset}`;
}
