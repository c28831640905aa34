/** Puts the focus where something is answered: at what was picked, else at the first option. */
export function focusAnswer(within: Element | null): void {
  const find = (selector: string) => within?.querySelector<HTMLElement>(selector);
  (find("input:checked") ?? find("fieldset input") ?? find("textarea, input, button:not(:disabled)"))?.focus();
}
