/** "24m", "1h 04m": how long something took, for columns of figures; "" for nothing, "<1m" below a minute. */
export function minutes(ms: number): string {
  if (ms <= 0) return "";
  const m = Math.floor(ms / 60_000);
  if (m < 1) return "<1m";
  return m < 60 ? `${m}m` : `${Math.floor(m / 60)}h ${String(m % 60).padStart(2, "0")}m`;
}
