/** One question with what may be answered. */
export interface Asked {
  id: string;
  header?: string | undefined;
  question: string;
  options?: { label: string; description?: string | undefined }[] | null | undefined;
  multiSelect?: boolean | undefined;
}

/** What somebody is about to answer: labels, or own words. */
export interface Draft {
  picks: string[];
  own: string;
}

export const noDraft: Draft = { picks: [], own: "" };

/** A pick of an option. It takes the place of own words, and of another pick where one alone may be chosen. */
export function pick(draft: Draft, label: string, several: boolean): Draft {
  if (!several) return { picks: [label], own: "" };
  const picks = draft.picks.includes(label) ? draft.picks.filter((one) => one !== label) : [...draft.picks, label];
  return { picks, own: "" };
}

/** Own words take the place of picks. */
export function write(_: Draft, own: string): Draft {
  return { picks: [], own };
}

export function isAnswered(draft: Draft): boolean {
  return draft.own.trim() !== "" || draft.picks.length > 0;
}

/** The answer as the daemon takes it: words, a label, or a JSON array of labels. */
export function answerOf(asked: Asked, draft: Draft): string {
  if (draft.own.trim() !== "") return draft.own.trim();
  if (!asked.multiSelect) return draft.picks[0] ?? "";
  const order = (asked.options ?? []).map((option) => option.label);
  return JSON.stringify([...draft.picks].sort((a, b) => order.indexOf(a) - order.indexOf(b)));
}

/** An answer as people read it: labels that were chosen together stand beside each other. */
export function answerInWords(answer: string): string {
  if (!answer.startsWith("[")) return answer;
  try {
    const labels = JSON.parse(answer) as unknown;
    return Array.isArray(labels) ? labels.map(String).join(", ") : answer;
  } catch {
    return answer;
  }
}

/** Drafts by the id of their question. They outlive the choice of another item, so that nothing typed is lost. */
export const kept = new Map<string, Draft>();

/** Forgets drafts that were sent. */
export function forget(ids: string[]): void {
  for (const id of ids) kept.delete(id);
}
