/** Puts the focus where something is answered: at what was picked, else at the first option. Tells whether there is such a place. */
export function focusAnswer(within: Element | null): boolean {
  const find = (selector: string) => within?.querySelector<HTMLElement>(selector);
  const place = find("input:checked") ?? find("fieldset input") ?? find("textarea, input, button:not(:disabled)");
  place?.focus();
  return Boolean(place);
}

/** The same once it is painted: frame by frame, for a second at the most. */
export function focusAnswerSoon(within: () => Element | null, frames = 60): void {
  requestAnimationFrame(() => {
    if (!focusAnswer(within()) && frames > 1) focusAnswerSoon(within, frames - 1);
  });
}
