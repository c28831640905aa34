import type { Token } from "../../api/settingsQueries";

/** Whether a token is still taken. */
export function alive(token: Token, now: number): boolean {
  return !token.revokedAt && (!token.expiresAt || Date.parse(token.expiresAt) > now);
}

/** Who has it: a browser, or a dashboard of the person's own. */
export function kindOf(token: Token): string {
  if (token.session) return "browser session";
  return token.kind === "agent" ? "agent" : "token";
}
