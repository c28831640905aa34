import { spawn, type ChildProcessByStdio } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Step } from "./script";

/** What weblab says of itself first. */
interface Hello {
  root: string;
  home: string;
  repo: string;
  scripts: string;
  binary: string;
  env: string[];
  log: string;
}

export interface Ran {
  stdout: string;
  stderr: string;
  code: number;
}

/** An agent as `cw agent list --json` tells it; the tests need few of its fields. */
export interface Agent {
  id: string;
  name: string;
  status: string;
  settling: boolean;
  /** The number of its newest run. */
  sessionNumber: number;
  title: string;
  pendingQuestions: { id: string }[] | null;
}

const PATIENCE = 60_000;

/** Lab is a real daemon over a home of its own, with agents that follow scripts. */
export class Lab {
  private orders = 0;
  private scripts = 0;
  private readonly waiting = new Map<number, { resolve: () => void; reject: (reason: Error) => void }>();

  private constructor(
    private readonly stage: ChildProcessByStdio<Writable, Readable, null>,
    readonly told: Hello,
  ) {}

  /** Makes a stage and starts its daemon. */
  static async open(): Promise<Lab> {
    const stage = spawn(variable("CW_WEBLAB"), ["-cw", variable("CW_BINARY")], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: stage.stdout });
    const hello = await new Promise<Hello>((resolve, reject) => {
      lines.once("line", (line) => resolve(JSON.parse(line) as Hello));
      stage.once("exit", (code) => reject(new Error(`weblab ended with ${code}`)));
      stage.once("error", reject);
    });
    const lab = new Lab(stage, hello);
    lines.on("line", (line) => lab.heard(line));
    await lab.start();
    return lab;
  }

  private heard(line: string): void {
    const answer = JSON.parse(line) as { id: number; ok: boolean; error?: string };
    const waits = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.ok) waits?.resolve();
    else waits?.reject(new Error(answer.error));
  }

  private order(what: string): Promise<void> {
    const id = ++this.orders;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.stage.stdin.write(`${JSON.stringify({ id, do: what })}\n`);
    });
  }

  /** Starts the daemon, and waits until it serves. */
  start = (): Promise<void> => this.order("start");
  /** Kills the daemon with SIGKILL. Agents go on. */
  kill = (): Promise<void> => this.order("kill");
  /** Ends the daemon in order. */
  stop = (): Promise<void> => this.order("stop");

  /** Ends everything, and removes it. */
  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.stage.once("exit", resolve));
    this.stage.stdin.end();
    await gone;
  }

  /** Runs cw in the repository, to its end. */
  run(...args: string[]): Promise<Ran> {
    return this.runWith("", ...args);
  }

  /** Runs cw with a text on its standard input. */
  runWith(input: string, ...args: string[]): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.told.binary, args, { cwd: this.told.repo, env: this.env });
      const out = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out.stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (out.stderr += text));
      child.on("error", reject);
      child.on("close", (code) => resolve({ ...out, code: code ?? -1 }));
      child.stdin.on("error", () => undefined); // it may not read
      child.stdin.end(input);
    });
  }

  /** Runs cw, which must succeed, and gives what it printed. */
  async cw(...args: string[]): Promise<string> {
    const ran = await this.run(...args);
    if (ran.code !== 0) throw new Error(`cw ${args.join(" ")}: exit code ${ran.code}\n${ran.stdout}${ran.stderr}`);
    return ran.stdout.trim();
  }

  /** Runs cw with --json, and gives the value. */
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.cw(...args, "--json")) as T;
  }

  get env(): Record<string, string> {
    return Object.fromEntries(this.told.env.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
  }

  /** Says what agents do whose prompt has all of these words, run by run. */
  script(match: string | string[], ...runs: Step[][]): void {
    const name = `${String(++this.scripts).padStart(4, "0")}.json`;
    const file = join(this.told.scripts, name);
    writeFileSync(`${file}.new`, JSON.stringify({ match: [match].flat(), runs }));
    renameSync(`${file}.new`, file); // agents that begin meanwhile read all scripts, and find none that is half written
  }

  /** Lets scripts go on that wait for this. */
  signal(name: string): void {
    writeFileSync(join(this.told.scripts, name), "");
  }

  /** Starts an agent with a goal and what it does in its first run and those after it. */
  async spawn(goal: string, runs: Step[][], ...flags: string[]): Promise<Agent> {
    const [first = ""] = goal.split("\n");
    this.script(first, ...runs);
    return this.json<Agent>("agent", "spawn", "--provider", "claude", ...flags, goal);
  }

  agent = (name: string): Promise<Agent> => this.json<Agent>("agent", "show", name);

  /** Waits until an agent is as wanted. */
  async until(name: string, want: (agent: Agent) => boolean): Promise<Agent> {
    for (const end = Date.now() + PATIENCE; ; await sleep(100)) {
      const agent = await this.agent(name);
      if (want(agent)) return agent;
      if (Date.now() > end) throw new Error(`agent ${name} stays ${agent.status}`);
    }
  }

  /** Waits until an agent is at rest. */
  rest = (name: string): Promise<Agent> => this.until(name, (agent) => ["idle", "crashed", "stopped"].includes(agent.status) && !agent.settling);

  /** A new address for a browser, with its one-time code. */
  async address(): Promise<string> {
    const out = await this.cw("open", "--print");
    const found = /http:\/\/\S+#code=\S+/.exec(out);
    if (!found) throw new Error(`cw open --print says no address: ${out}`);
    return found[0];
  }

  /** All that the daemons wrote to their log, in the home and on standard error. */
  logs(): string {
    return [this.told.log, join(this.told.home, "daemon.log"), join(this.told.home, "logs", "daemon.log")]
      .filter(existsSync)
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: e2e/setup.ts builds it`);
  return value;
}
