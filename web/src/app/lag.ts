/** Older than this is behind, and it is told when it lasts. */
const LATE = 3000;
const LASTS = 1000;
/** Where no event came for so long, none is to be caught up with. */
const QUIET = 2000;

/**
 * Lag knows how far a page is behind the daemon: how old events are when they
 * come. Where none comes nothing is known, and nothing is said.
 */
export class Lag {
  private age = 0;
  private last = 0;
  private lateSince: number | null = null;

  /** Takes note of an event that came at this time, both by the daemon's clock. */
  note(at: number, came: number): void {
    if (came - this.last > QUIET) this.lateSince = null;
    this.age = came - at;
    this.last = came;
    if (this.age <= LATE) this.lateSince = null;
    else this.lateSince ??= came;
  }

  /** How many seconds the page is behind; 0 where it is not, or only for a moment. */
  seconds(now: number): number {
    if (this.lateSince === null || now - this.last > QUIET || now - this.lateSince < LASTS) return 0;
    return Math.round(this.age / 1000);
  }
}
