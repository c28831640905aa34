import type { Query, QueryClient } from "@tanstack/react-query";
import { Store } from "../lib/store";
import { keepsEvents } from "./awake";
import type { Client, Schema } from "./client";
import { follow, type StreamState } from "./stream";
import { touched, type EventHead } from "./touched";

export type Activity = Schema<"Activity">;
export type CwEvent = EventHead & { at: string; data?: unknown; [field: string]: unknown };

/** Data are read anew at most once a second, "this second" is painted at most 4 times. */
const REREAD = 1000;
const REPAINT = 250;

/**
 * Live is the one event stream of a browser tab. It makes old data be read
 * anew, keeps what each agent does this second, and knows how the connection
 * stands.
 */
export class Live {
  readonly state = new Store<StreamState>({ kind: "connecting" });
  /** The number of the last event that was seen; 0 before the first. */
  readonly seq = new Store(0);

  private readonly activities = new Map<string, Store<Activity | null>>();
  private readonly waiting = new Map<string, Activity>();
  private readonly old = new Set<string>();
  /** What became old while it was read, by the hashes of the keys. */
  private readonly oldWhileRead = new Set<string>();
  private readonly watchers = new Set<(event: CwEvent) => void>();
  private rereadTimer: ReturnType<typeof setTimeout> | null = null;
  private repaintTimer: ReturnType<typeof setTimeout> | null = null;
  private lastReread = 0;

  constructor(
    private readonly client: Client,
    private readonly queries: QueryClient,
    /** Events were missed for good: everything is read anew. */
    private readonly onMissed: () => void = () => undefined,
  ) {
    queries.getQueryCache().subscribe(({ query }) => {
      if (query.state.fetchStatus === "idle" && this.oldWhileRead.delete(query.queryHash)) this.readAnew((one) => one === query);
    });
  }

  /** Follows until the signal ends it. While this tab rests it hears from one that does not, so that its title stays true. */
  async run(signal: AbortSignal): Promise<void> {
    const tabs = new BroadcastChannel("cw.live");
    tabs.onmessage = ({ data }) => {
      if (this.state.get().kind === "resting") this.makeOld(data as EventHead);
    };
    signal.addEventListener("abort", () => tabs.close());
    await follow({
      client: this.client,
      url: "/v1/events?follow=true&tail=true&also=agent:activity",
      after: null,
      signal,
      awake: keepsEvents(signal),
      onFrame: (frame) => {
        const event = JSON.parse(frame.data) as CwEvent;
        this.take(event);
        if (event.seq) tabs.postMessage({ type: event.type });
      },
      onPlace: (id) => this.seq.set(Number(id)),
      onState: (state) => {
        const before = this.state.get().kind;
        this.state.set(state);
        // What is not stored was missed, and what was asked for before the stream stood may be old.
        if (state.kind === "live" && before !== "live") this.readAnew(() => true);
      },
      onGone: this.onMissed,
    });
  }

  /** What an agent does this second, as far as events told it. */
  activityOf(agentId: string): Store<Activity | null> {
    let store = this.activities.get(agentId);
    if (!store) this.activities.set(agentId, (store = new Store<Activity | null>(null)));
    return store;
  }

  /** Calls back with every event, as it comes. */
  watch = (watcher: (event: CwEvent) => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  private take(event: CwEvent): void {
    for (const watcher of this.watchers) watcher(event);
    if (event.type === "agent:activity") this.noteActivity(event);
    else this.makeOld(event);
  }

  private makeOld(event: EventHead): void {
    for (const key of touched(event)) this.old.add(key);
    this.rereadTimer ??= setTimeout(this.reread, Math.max(50, this.lastReread + REREAD - Date.now()));
  }

  private reread = (): void => {
    this.rereadTimer = null;
    this.lastReread = Date.now();
    const keys = new Set(this.old);
    this.old.clear();
    this.readAnew((query) => keys.has(String(query.queryKey[0])));
  };

  /**
   * Makes data be read anew. A read on its way is never broken off, or steady
   * events would keep a slow one from ever ending; it may have been asked for
   * before the event, so it is followed by one more.
   */
  private readAnew(predicate: (query: Query) => boolean): void {
    for (const query of this.queries.getQueryCache().findAll({ predicate })) {
      if (query.state.fetchStatus !== "idle") this.oldWhileRead.add(query.queryHash);
    }
    void this.queries.invalidateQueries({ predicate }, { cancelRefetch: false });
  }

  private noteActivity(event: CwEvent): void {
    const told = event.data as { activity?: Activity } | undefined;
    if (event.agentId === undefined || !told?.activity) return;
    this.waiting.set(event.agentId, told.activity);
    this.repaintTimer ??= setTimeout(this.repaint, REPAINT);
  }

  private repaint = (): void => {
    this.repaintTimer = null;
    for (const [id, activity] of this.waiting) this.activityOf(id).set(activity);
    this.waiting.clear();
  };
}
