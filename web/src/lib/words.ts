/** "12 s", "4 m", "1h 04m", "3 d": how long, in the words of rows. */
export function span(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m} m`;
  const h = Math.floor(m / 60);
  if (h < 48) return `${h}h ${String(m % 60).padStart(2, "0")}m`;
  return `${Math.floor(h / 24)} d`;
}

/** "12 minutes": how long, inside of a sentence. */
export function spanInWords(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return count(s, "second");
  const m = Math.floor(s / 60);
  if (m < 60) return count(m, "minute");
  const h = Math.floor(m / 60);
  return h < 48 ? count(h, "hour") : count(Math.floor(h / 24), "day");
}

/** "1 task", "3 tasks". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

/** "12,345". */
export function grouped(n: number): string {
  return n.toLocaleString("en-US");
}

/** "$1.84": to cents; below one cent as "<$0.01", so that something is never nothing. */
export function dollars(n: number): string {
  if (n > 0 && n < 0.01) return "<$0.01";
  return `$${n.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** "124k", "2.1M": tokens. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 1_000_000) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** "212 GB". */
export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

/** "05:14", in the person's own time. */
export function clockTime(at: string): string {
  return new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** "23 Nov, 05:14:31": the exact time, for what is shown on hover. */
export function exactTime(at: string): string {
  return new Date(at).toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** Characters that steer instead of being read: control, direction, width zero. */
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Text of an agent in one line of a row, without characters that steer. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(steering, "").trim();
}

/** Text of an agent in lines of its own, without characters that steer. */
export function inert(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(steering, "");
}
