import { visible } from "../../api/awake";
import type { Client } from "../../api/client";
import { Problem } from "../../api/problem";
import { follow, type StreamState } from "../../api/stream";
import { Store } from "../../lib/store";
import { Conversation } from "./conversation";
import { comparePlaces, readPage, type OutputEvent, type OutputPage, type PageQuery } from "./output";

/** How often new events are shown, in milliseconds. */
const PAINT = 100;
const PAGE = 300;

/** How the reading stands. */
export interface Reading {
  /** Grows with each change of the items. */
  revision: number;
  /** Something was read, or it is known that there is nothing. */
  ready: boolean;
  /** There is more before what is held. */
  older: boolean;
  /** The end is held, and what comes is added at once. */
  attached: boolean;
  busy: "older" | "newer" | null;
  stream: StreamState["kind"];
  /** Why it could not be read. */
  error: unknown;
  /** Nothing of the output is kept any more. */
  gone: boolean;
}

/**
 * Reads an agent's output: the last piece first, older ones when they are asked
 * for, and what comes as it comes, without a gap or a double.
 */
export class Reader {
  readonly conversation = new Conversation();
  readonly state = new Store<Reading>({ revision: 0, ready: false, older: false, attached: false, busy: null, stream: "connecting", error: null, gone: false });

  private olderPlace: string | undefined;
  private newerPlace: string | undefined;
  private live: AbortController | null = null;
  private waiting: OutputEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly whole = new AbortController();
  /** Grows when everything is read anew, so that what was asked for before is dropped. */
  private generation = 0;

  constructor(
    private readonly client: Client,
    private readonly id: string,
    /** Whether what is oldest may be forgotten: nobody looks at it. */
    private readonly mayForget: () => boolean = () => true,
  ) {}

  /** Reads the end, and goes on with what comes. */
  start = (): Promise<void> => this.from({});

  /** Reads from a place on: a run, or an event. */
  jump = (place: string): Promise<void> => this.from({ after: place });

  /** Ends everything. */
  close(): void {
    this.whole.abort();
    this.detach();
    if (this.timer) clearTimeout(this.timer);
  }

  /** Reads the page before what is held. */
  async loadOlder(): Promise<void> {
    const { busy, older } = this.state.get();
    if (busy !== null || !older) return;
    await this.read("older", { before: this.olderPlace }, (page) => {
      this.conversation.prepend(page.items);
      this.olderPlace = page.older;
      if (this.conversation.trimEnd()) {
        this.detach();
        this.newerPlace = this.conversation.last;
      }
    });
  }

  /** Reads the page after what is held, when the end is not. */
  async loadNewer(): Promise<void> {
    const { busy, attached, ready } = this.state.get();
    if (busy !== null || attached || !ready) return;
    await this.read("newer", { after: this.newerPlace }, (page) => {
      this.add(page.items);
      this.newerPlace = page.newer ?? this.newerPlace;
      this.attach(page);
    });
  }

  /** Looks for a text, from a place backwards ("": from the end). */
  search = (text: string, before: string | undefined): Promise<OutputPage> =>
    readPage(this.client, this.id, { contains: text, before, limit: 50 }, this.whole.signal);

  private async from(query: PageQuery): Promise<void> {
    this.generation++;
    this.detach();
    this.set({ busy: null });
    await this.read("newer", query, (page) => {
      this.conversation.clear();
      this.conversation.append(page.items);
      this.olderPlace = page.older;
      this.newerPlace = page.newer;
      this.attach(page);
    });
  }

  private async read(busy: "older" | "newer", query: PageQuery, take: (page: OutputPage) => void): Promise<void> {
    const generation = this.generation;
    this.set({ busy, error: null });
    try {
      const page = await readPage(this.client, this.id, { ...query, limit: PAGE }, this.whole.signal);
      if (generation !== this.generation) return;
      take(page);
      this.set({ busy: null, ready: true, gone: false, older: this.olderPlace !== undefined });
      this.touch();
    } catch (error) {
      if (this.whole.signal.aborted || generation !== this.generation) return;
      const gone = error instanceof Problem && error.status === 410;
      this.set({ busy: null, error: gone ? null : error, gone });
    }
  }

  /** Follows from where a page ends, when that is the end of what is stored. */
  private attach(page: OutputPage): void {
    const atEnd = page.stream !== undefined || page.newer === undefined;
    if (!atEnd || this.live) return;
    const live = new AbortController();
    this.live = live;
    this.set({ attached: true });
    void follow({
      client: this.client,
      url: `/v1/agents/${encodeURIComponent(this.id)}/output?format=events&until=closed`,
      after: page.stream === undefined ? null : String(page.stream),
      signal: live.signal,
      awake: visible,
      onFrame: (frame) => this.arrived(JSON.parse(frame.data) as OutputEvent),
      onState: (state) => {
        if (live.signal.aborted) return;
        this.set({ stream: state.kind });
        if (state.kind === "ended" && state.why) this.set({ error: state.why });
      },
      onGone: () => void this.start(),
    });
  }

  private detach(): void {
    this.flush();
    this.live?.abort();
    this.live = null;
    this.set({ attached: false });
  }

  private arrived(event: OutputEvent): void {
    this.waiting.push(event);
    this.timer ??= setTimeout(this.flush, PAINT);
  }

  private flush = (): void => {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.waiting.length === 0) return;
    const events = this.waiting;
    this.waiting = [];
    this.add(events);
    this.touch();
  };

  private add(events: OutputEvent[]): void {
    this.conversation.append(events);
    if (this.mayForget()) {
      if (this.conversation.trimStart()) {
        this.olderPlace = this.conversation.first;
        this.set({ older: true });
      }
      return;
    }
    // Somebody reads what is old: what is new is left for later.
    if (this.conversation.trimEnd()) {
      this.newerPlace = this.conversation.last;
      this.waiting = [];
      this.live?.abort();
      this.live = null;
      this.set({ attached: false });
    }
  }

  private touch(): void {
    this.set({ revision: this.state.get().revision + 1 });
  }

  private set(change: Partial<Reading>): void {
    this.state.set({ ...this.state.get(), ...change });
  }
}

/** Whether an item's places hold a place. */
export function holds(item: { first: string; last: string }, place: string): boolean {
  return comparePlaces(item.first, place) <= 0 && comparePlaces(place, item.last) <= 0;
}
