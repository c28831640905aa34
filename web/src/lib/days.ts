/** The time zone of this browser: costs of days are asked for in it. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** When the day began here that is n days before the one of a time. */
export function dayBegin(at: number, before = 0): Date {
  const day = new Date(at);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - before);
}

/** "2026-11-21": a day here as the API names it. Sweden writes days so. */
export function dayOf(at: number | Date): string {
  return new Date(at).toLocaleDateString("sv-SE");
}
