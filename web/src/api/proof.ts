import { Problem } from "./problem";
import type { Held, Session } from "./session";

/** Who answers at this address: the daemon of a session, which lives or is over, or somebody else. */
export type Answerer = "ours" | "over" | "stranger";

/** How long a proof may take. */
const PATIENCE = 5000;
const utf8 = new TextEncoder();

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What the daemon answers of a session: cw.SessionProof computes the same. */
export async function proofOf(held: Held, state: "lives" | "over", host: string, nonce: string): Promise<string> {
  const hash = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(held.token))));
  const key = await crypto.subtle.importKey("raw", utf8.encode(hash), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const text = ["cw session proof 1", state, host, held.id, nonce].join("\n");
  return hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8.encode(text))));
}

/** Asks who answers here, without the token. Problem when nobody does. */
export async function whoAnswers(held: Held): Promise<Answerer> {
  // A browser has it at 127.0.0.1 and localhost alone.
  if (!globalThis.crypto?.subtle) throw new Problem(0, "insecure", "At this address a browser cannot check who answers.", "cw open shows the dashboard where it can.");
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  let answer: { proof?: unknown } | null;
  try {
    const response = await fetch(`/v1/sessions/${encodeURIComponent(held.id)}/proof?nonce=${nonce}`, { redirect: "error", signal: AbortSignal.timeout(PATIENCE) });
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    answer = (await response.json().catch(() => null)) as typeof answer;
  } catch (cause) {
    throw Problem.unreachable(cause);
  }
  if (answer?.proof === (await proofOf(held, "lives", location.host, nonce))) return "ours";
  return answer?.proof === (await proofOf(held, "over", location.host, nonce)) ? "over" : "stranger";
}

/**
 * Trust gives the token away only when the daemon of the session is known to
 * answer: while it is gone, another program may listen at its port. It is sure
 * from a proof until the connection is lost.
 */
export class Trust {
  private sure: { token: string; proof: Promise<void> } | null = null;

  constructor(private readonly session: Session) {}

  /** The token, for who answers here; null without a session. All that ask meanwhile wait for one proof. */
  async token(): Promise<string | null> {
    for (;;) {
      const held = this.session.held;
      if (held === null) return null;
      if (this.sure?.token !== held.token) this.sure = { token: held.token, proof: this.prove(held) };
      const own = this.sure;
      try {
        await own.proof;
      } catch (error) {
        if (this.sure === own) this.sure = null;
        throw error;
      }
      if (this.sure === own) return held.token;
    }
  }

  /** The connection was lost: who answers next may be another program. */
  doubt(): void {
    this.sure = null;
  }

  private async prove(held: Held): Promise<void> {
    const who = await whoAnswers(held);
    if (who === "stranger") throw new Problem(0, "stranger", "Another program answers at the address of this page, not the daemon.", "Nothing was sent to it. cw open shows the dashboard where the daemon is.");
    if (who === "ours") return;
    this.session.drop(held.token);
    throw new Problem(401, "unauthorized", "The session is over.", "cw open begins another.");
  }
}
