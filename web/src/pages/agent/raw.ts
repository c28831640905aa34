import { visible } from "../../api/awake";
import type { Client, Schema } from "../../api/client";
import { FrameReader } from "../../api/sse";
import { follow } from "../../api/stream";
import { Store } from "../../lib/store";
import { inert } from "../../lib/words";
import { readPage, sessionOf } from "./output";

/** How much is read at once, in bytes. */
export const PIECE = 256 * 1024;
/** How many lines are held, and how many characters; of more the oldest go. */
const MOST_LINES = 50_000;
const MOST_TEXT = 24_000_000;
/** How much is held of one line, in characters: one without an end would never go. */
export const LONGEST_LINE = 1_000_000;
const CUT = " … the rest of this line is left out";

export interface Raw {
  lines: string[];
  /** The number of the first line that is held, counted from an arbitrary one: keys stay when lines come before it. */
  first: number;
  older: boolean;
  ready: boolean;
  busy: boolean;
  error: unknown;
}

/** Reads a run's raw output: the last piece, older ones when they are asked for, and what comes as it comes. */
export class RawReader {
  readonly state = new Store<Raw>({ lines: [], first: 0, older: false, ready: false, busy: false, error: null });
  /** Where what is held begins, in bytes of the run; 0, too, once lines were let go, as nothing before them can be joined on. */
  private start = 0;
  /** How much text is held, in characters. */
  private size = 0;
  private end = 0;
  private aligned = false;
  private readonly decoder = new TextDecoder();
  private waiting = "";
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly whole = new AbortController();

  constructor(
    private readonly client: Client,
    private readonly id: string,
    private readonly session: number,
  ) {}

  async run(): Promise<void> {
    try {
      const page = await readPage(this.client, this.id, { before: String(this.session + 1), limit: 1 }, this.whole.signal);
      const last = page.items.at(-1)?.position ?? "";
      const near = sessionOf(last) === this.session ? Number(last.split(":")[1]) : 0;
      this.start = this.end = Math.max(0, near - PIECE);
      this.aligned = this.start === 0;
      this.set({ ready: true });
      await follow({
        client: this.client, url: this.url(this.start, "closed"), after: null, signal: this.whole.signal, awake: visible,
        onFrame: (frame) => this.take(JSON.parse(frame.data) as Schema<"Chunk">),
        onState: (state) => {
          if (state.kind === "ended" && state.why) this.set({ error: state.why });
        },
      });
    } catch (error) {
      if (!this.whole.signal.aborted) this.set({ error, ready: true });
    }
  }

  close(): void {
    this.whole.abort();
    if (this.timer) clearTimeout(this.timer);
  }

  /** Reads the piece before what is held. */
  async older(): Promise<void> {
    if (this.state.get().busy || this.start === 0) return;
    this.set({ busy: true });
    try {
      const from = Math.max(0, this.start - PIECE);
      const bytes = await this.piece(from, this.start);
      const cut = from === 0 ? 0 : bytes.indexOf(10) + 1;
      const lines = inert(new TextDecoder().decode(bytes.subarray(cut))).split("\n");
      if (lines.at(-1) === "") lines.pop();
      // Lines were let go meanwhile: what was read no longer joins on.
      if (this.start === 0) return this.set({ busy: false });
      this.start = from + cut;
      this.size += sizeOf(lines);
      const now = this.state.get();
      this.set({ lines: [...lines, ...now.lines], first: now.first - lines.length, busy: false, older: this.start > 0 });
    } catch (error) {
      if (!this.whole.signal.aborted) this.set({ busy: false, error });
    }
  }

  private url(offset: number, until: string): string {
    return `/v1/agents/${encodeURIComponent(this.id)}/output?format=raw&only=true&session=${this.session}&offset=${offset}&until=${until}`;
  }

  /** The bytes from one place to another. */
  private async piece(from: number, to: number): Promise<Uint8Array> {
    const connection = new AbortController();
    const end = () => connection.abort();
    this.whole.signal.addEventListener("abort", end);
    const out = new Uint8Array(to - from);
    try {
      const response = await this.client.open(this.url(from, "now"), { signal: connection.signal });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const frames = new FrameReader();
      for (let at = from; at < to; ) {
        const { done, value } = await reader.read();
        if (done) break;
        for (const frame of frames.push(value)) {
          if (frame.event !== "") continue;
          const chunk = JSON.parse(frame.data) as Schema<"Chunk">;
          const bytes = bytesOf(chunk).subarray(Math.max(0, at - chunk.offset));
          out.set(bytes.subarray(0, to - at), at - from);
          at = Math.min(to, at + bytes.length);
          if (at >= to) break;
        }
      }
      return out;
    } finally {
      this.whole.signal.removeEventListener("abort", end);
      connection.abort();
    }
  }

  private take(chunk: Schema<"Chunk">): void {
    const whole = bytesOf(chunk);
    let bytes = whole.subarray(Math.max(0, this.end - chunk.offset));
    if (bytes.length === 0) return;
    this.end = chunk.offset + whole.length;
    if (!this.aligned) {
      // The first line is read whole, or not at all.
      const cut = bytes.indexOf(10) + 1;
      this.start = this.end - bytes.length + cut;
      bytes = bytes.subarray(cut);
      this.aligned = true;
    }
    this.waiting += this.decoder.decode(bytes, { stream: true });
    this.timer ??= setTimeout(this.flush, 100);
  }

  private flush = (): void => {
    this.timer = null;
    const now = this.state.get();
    const last = now.lines.at(-1) ?? "";
    const [more = "", ...others] = inert(this.waiting).split("\n");
    this.waiting = "";
    const added = [last + more, ...others].map(cut);
    this.size += sizeOf(added) - sizeOf(now.lines.slice(-1));
    const lines = [...now.lines.slice(0, -1), ...added];
    const over = this.letGo(lines);
    this.set({ lines: over > 0 ? lines.slice(over) : lines, first: now.first + over, older: this.start > 0 });
  };

  /** How many of the oldest lines go; some more than needed, so that it is seldom done. */
  private letGo(lines: string[]): number {
    if (lines.length <= MOST_LINES && this.size <= MOST_TEXT) return 0;
    let over = 0;
    while (over < lines.length - 1 && (lines.length - over > MOST_LINES * 0.95 || this.size > MOST_TEXT * 0.95)) this.size -= sizeOf([lines[over++] ?? ""]);
    this.start = 0;
    return over;
  }

  private set(change: Partial<Raw>): void {
    this.state.set({ ...this.state.get(), ...change });
  }
}

const sizeOf = (lines: string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);

/** A line with what is held of it. What comes to a line that is cut already changes nothing. */
function cut(line: string): string {
  return line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) + CUT : line;
}

function bytesOf(chunk: Schema<"Chunk">): Uint8Array {
  const signs = atob(chunk.bytes);
  const bytes = new Uint8Array(signs.length);
  for (let i = 0; i < signs.length; i++) bytes[i] = signs.charCodeAt(i);
  return bytes;
}
