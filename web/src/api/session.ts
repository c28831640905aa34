import { problemOf, Problem } from "./problem";
import { whoAnswers } from "./proof";

/** Where the token of this browser is kept: in this origin's storage, never in a cookie. */
const KEY = "cw.session";
const ID = "cw.session.id";

/** A session as its browser has it. */
export interface Held {
  id: string;
  token: string;
}

type Listener = () => void;

/**
 * The token that this browser was given for its one-time code. Without one
 * the pages ask for `cw open`.
 */
export class Session {
  private readonly listeners = new Set<Listener>();

  constructor(private readonly storage: Storage) {
    // Another tab of this browser signed in or out; a null key: everything was removed.
    addEventListener("storage", ({ key }) => {
      if (key === KEY || key === null) this.tell();
    });
  }

  get held(): Held | null {
    const [id, token] = [this.storage.getItem(ID), this.storage.getItem(KEY)];
    return id === null || token === null ? null : { id, token };
  }

  get token(): string | null {
    return this.held?.token ?? null;
  }

  keep({ id, token }: Held): void {
    this.storage.setItem(ID, id);
    this.storage.setItem(KEY, token);
    this.tell();
  }

  /** Forgets a token that is refused, or learns that there is none. One that replaced it meanwhile stays. */
  drop(token: string | null): void {
    if (this.token !== token) return;
    if (token !== null) this.storage.removeItem(KEY);
    this.tell();
  }

  subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The one-time code in an address, as `cw open` writes it: #code=… */
export function codeIn(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("code");
}

/** Gives the code away for a token. A code is good once, for a minute. */
export async function redeem(code: string): Promise<Held> {
  let response: Response;
  try {
    response = await fetch("/v1/sessions", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
    });
  } catch (cause) {
    throw Problem.unreachable(cause);
  }
  if (!response.ok) throw await problemOf(response);
  const { id, token } = (await response.json()) as Held;
  return { id, token };
}

/** Ends the session that a browser had before, so that each has one. Where that cannot be done it ends by itself. */
export async function endFormer(former: Held): Promise<void> {
  try {
    if ((await whoAnswers(former)) === "ours") await fetch("/v1/sessions/self", { method: "DELETE", headers: { Authorization: `Bearer ${former.token}` } });
  } catch {
    // It is not used any more.
  }
}
