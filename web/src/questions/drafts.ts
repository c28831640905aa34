/** One question with what may be answered. */
export interface Asked {
  id: string;
  header?: string | undefined;
  question: string;
  options?: { label: string; description?: string | undefined }[] | null | undefined;
  multiSelect?: boolean | undefined;
}

/** What somebody is about to answer: labels, or own words, or where several may be chosen both. */
export interface Draft {
  picks: string[];
  own: string;
}

const nothing: Draft = { picks: [], own: "" };

/** A pick of an option. Where one alone may be chosen it takes the place of another one and of own words. */
export function pick(asked: Asked, draft: Draft, label: string): Draft {
  if (!asked.multiSelect) return { picks: [label], own: "" };
  const rest = draft.picks.filter((one) => one !== label);
  return { ...draft, picks: rest.length < draft.picks.length ? rest : [...rest, label] };
}

/** Own words, which take the place of a pick where one alone may be chosen. */
export function write(asked: Asked, draft: Draft, own: string): Draft {
  return { picks: asked.multiSelect || own === "" ? draft.picks : [], own };
}

export function isAnswered(draft: Draft): boolean {
  return draft.own.trim() !== "" || draft.picks.length > 0;
}

/**
 * The answer as the daemon takes it: a label, a JSON array of labels, or words.
 * A list may hold offered labels alone, so that with own words beside them all
 * of it is words.
 */
export function answerOf(asked: Asked, draft: Draft): string {
  const own = draft.own.trim();
  const labels = (asked.options ?? []).map((option) => option.label).filter((label) => draft.picks.includes(label));
  if (own !== "") return [labels.join(", "), own].filter((text) => text !== "").join("\n");
  return asked.multiSelect ? JSON.stringify(labels) : (labels[0] ?? "");
}

/** An answer as people read it: labels that were chosen together stand beside each other. */
export function answerInWords(answer: string): string {
  if (!answer.startsWith("[")) return answer;
  try {
    const labels = JSON.parse(answer) as unknown;
    return Array.isArray(labels) ? labels.map(String).join(", ") : answer;
  } catch {
    return answer; // own words that begin like a list
  }
}

const keyOf = (id: string) => `cw.draft.question.${id}`;

/** What is about to be answered. It outlives the page for as long as the tab is there, so that nothing typed is lost. */
export function draftOf(id: string): Draft {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(id)) ?? "{}") as Partial<Draft>;
    return { picks: Array.isArray(kept.picks) ? kept.picks.map(String) : [], own: typeof kept.own === "string" ? kept.own : "" };
  } catch {
    return nothing;
  }
}

export function keepDraft(id: string, draft: Draft): void {
  if (isAnswered(draft)) sessionStorage.setItem(keyOf(id), JSON.stringify(draft));
  else forget([id]);
}

/** Forgets drafts: they were sent, or are wanted no more. */
export function forget(ids: readonly string[]): void {
  for (const id of ids) sessionStorage.removeItem(keyOf(id));
}
