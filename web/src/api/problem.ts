/** What the daemon says when it refuses something, or what became of a request that did not reach it. */
export class Problem extends Error {
  constructor(
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    /** For programs: "not_found", "conflict" and so on; "unreachable" when no answer came. */
    readonly code: string,
    message: string,
    /** What to do next. */
    readonly hint: string = "",
  ) {
    super(message);
    this.name = "Problem";
  }

  /** The daemon did not answer at all. */
  static unreachable(cause: unknown): Problem {
    const problem = new Problem(0, "unreachable", "The daemon does not answer.", "Agents go on working. cw serve starts it.");
    problem.cause = cause;
    return problem;
  }
}

/** Reads a refusal. A body that is no problem of the daemon's keeps its status alone. */
export async function problemOf(response: Response): Promise<Problem> {
  const body = (await response.json().catch(() => null)) as { code?: string; message?: string; hint?: string } | null;
  return new Problem(response.status, body?.code ?? "failed", body?.message ?? `The daemon answers ${response.status}.`, body?.hint ?? "");
}

/** The words for a person, of any error. */
export function wordsOf(error: unknown): string {
  if (error instanceof Problem) return error.hint ? `${error.message} ${error.hint}` : error.message;
  return error instanceof Error ? error.message : String(error);
}
