import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The tests find the two programs by these variables; who sets them has built them. */
const programs = { CW_BINARY: "./cmd/cw", CW_WEBLAB: "./internal/cwtest/weblab" };

/** Builds the program under test and its stage once for all files. */
export default function setup(): (() => void) | undefined {
  const missing = Object.entries(programs).filter(([name]) => !process.env[name]);
  if (missing.length === 0) return undefined;
  const dir = mkdtempSync(join(tmpdir(), "cw-web-built-"));
  for (const [name, source] of missing) {
    const built = join(dir, name.toLowerCase());
    execFileSync("go", ["build", "-o", built, source], { cwd: join(import.meta.dirname, "../.."), env: { ...process.env, CGO_ENABLED: "0" }, stdio: "inherit" });
    process.env[name] = built;
  }
  return () => rmSync(dir, { recursive: true, force: true });
}
