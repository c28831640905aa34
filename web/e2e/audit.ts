import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  id: string;
  impact: string | null;
  help: string;
  nodes: { target: unknown[]; failureSummary?: string }[];
}

/** What axe finds serious or critical, a line for each place. */
export async function audit(page: Page): Promise<string[]> {
  const phone = (page.viewportSize()?.width ?? 0) < 600;
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const axe = (window as unknown as { axe: { run: (o: unknown) => Promise<{ violations: Finding[] }> } }).axe;
    return (await axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })).violations;
  });
  return found
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.filter((node) => phone || !inLine(one.id, node.target)).map((node) => `${one.id} (${one.impact}): ${one.help}: ${JSON.stringify(node.target)} ${node.failureSummary?.split("\n")[1]?.trim() ?? ""}`));
}

/**
 * The number of a line of code is a button as high as the line. The size of such a
 * target is that of the text around it (WCAG 2.5.8, "inline"), which axe cannot
 * know. On a phone lines are higher, and this does not hold.
 */
function inLine(rule: string, target: unknown[]): boolean {
  return rule === "target-size" && JSON.stringify(target).includes("Comment on line");
}

/** How far the page scrolls sideways, in pixels. */
export function sideways(page: Page): Promise<number> {
  return page.evaluate(() => {
    scrollTo(10_000, scrollY);
    const main = document.querySelector("main");
    const most = Math.max(document.documentElement.scrollWidth - document.documentElement.clientWidth, main ? main.scrollWidth - main.clientWidth : 0, scrollX);
    scrollTo(0, scrollY);
    return most;
  });
}
