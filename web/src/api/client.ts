import type { components, paths } from "./schema";
import { Problem, problemOf } from "./problem";
import { Trust } from "./proof";
import type { Session } from "./session";

/** The nouns of the API: Schema<"AgentView">. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

type Method = "get" | "post" | "delete";
/** The paths that have a method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never }[keyof paths];
type Operation<M extends Method, P extends keyof paths> = paths[P] extends Record<M, infer O> ? O : never;

type Parameters<O, In extends string> = O extends { parameters: infer All } ? (All extends { [K in In]?: infer Found } ? Found : undefined) : undefined;
type BodyOf<O> = O extends { requestBody?: { content: { "application/json": infer Body } } } ? Body : undefined;
type Answers<O> = O extends { responses: infer R } ? R : never;
type ResultOf<O> =
  Answers<O> extends Record<200, { content: { "application/json": infer Out } }> ? Out
  : Answers<O> extends Record<201, { content: { "application/json": infer Out } }> ? Out
  : undefined;

/** What a request is made with: parameters of the path, the query, the body. */
export interface Request<M extends Method, P extends keyof paths> {
  path?: Parameters<Operation<M, P>, "path">;
  query?: Parameters<Operation<M, P>, "query">;
  body?: BodyOf<Operation<M, P>>;
  signal?: AbortSignal;
}

/** Result is what a route answers. */
export type Result<M extends Method, P extends keyof paths> = ResultOf<Operation<M, P>>;

/** Fills in a path of the API: ("/v1/agents/{id}", {id: "a b"}) is "/v1/agents/a%20b". */
export function address(path: string, parameters: object | undefined, query: object | undefined): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String((parameters as Record<string, unknown>)[name])));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") asked.set(name, String(value));
  }
  const text = asked.toString();
  return text === "" ? filled : `${filled}?${text}`;
}

/** Client calls the daemon with the session's token, and nobody else. A token that is refused is forgotten. */
export class Client {
  private readonly orders = new Map<string, Promise<never>>();
  /** By how many milliseconds the daemon's clock is ahead of this one, by its last answer; half a second is its error. */
  clockAhead = 0;

  constructor(
    readonly session: Session,
    readonly trust: Pick<Trust, "token" | "doubt"> = new Trust(session),
  ) {}

  get = <P extends PathOf<"get">>(path: P, request: Request<"get", P> = {}): Promise<Result<"get", P>> => this.call("get", path, request);
  post = <P extends PathOf<"post">>(path: P, request: Request<"post", P> = {}): Promise<Result<"post", P>> => this.order("post", path, request);
  delete = <P extends PathOf<"delete">>(path: P, request: Request<"delete", P> = {}): Promise<Result<"delete", P>> => this.order("delete", path, request);

  /** Asks, and gives the answer as it comes: for streams. Problem when it is refused. */
  async open(url: string, init: RequestInit = {}): Promise<Response> {
    const token = await this.trust.token();
    const headers = new Headers(init.headers);
    if (token !== null) headers.set("Authorization", `Bearer ${token}`);
    let response: Response;
    try {
      response = await fetch(url, { ...init, headers });
    } catch (cause) {
      throw this.lost(cause, init.signal);
    }
    const date = Date.parse(response.headers.get("Date") ?? "");
    if (!Number.isNaN(date)) this.clockAhead = date + 500 - Date.now();
    if (response.status === 401) this.session.drop(token);
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  /** The same order that is given again while it is under way, as by a double click, is one order. */
  private order<M extends Method, P extends keyof paths>(method: M, path: P, request: Request<M, P>): Promise<Result<M, P>> {
    const key = JSON.stringify([method, path, request]);
    let order = this.orders.get(key);
    if (!order) {
      order = this.call(method, path, request).finally(() => this.orders.delete(key)) as Promise<never>;
      this.orders.set(key, order);
    }
    return order;
  }

  /** What became of a request that broke off. Who let go of it has lost nothing. */
  private lost(cause: unknown, signal: AbortSignal | null | undefined): unknown {
    if (signal?.aborted) return cause;
    this.trust.doubt();
    return Problem.unreachable(cause);
  }

  private async call<M extends Method, P extends keyof paths>(method: M, path: P, request: Request<M, P>): Promise<Result<M, P>> {
    const init: RequestInit = { method: method.toUpperCase(), signal: request.signal ?? null };
    if (method === "post") {
      init.headers = { "Content-Type": "application/json" };
      init.body = JSON.stringify(request.body ?? {});
    }
    const response = await this.open(address(path, request.path as object | undefined, request.query as object | undefined), init);
    const text = await response.text().catch((cause: unknown) => {
      throw this.lost(cause, init.signal);
    });
    return (text === "" ? undefined : JSON.parse(text)) as Result<M, P>;
  }
}
