/** The code of the demo's shop, as it is before agents work on it. */
export const files: Record<string, string> = {
  "README.md": "# Shop\n\nA small shop: a cart, a checkout, and webhooks of three payment providers.\n",
  "cw.yaml": "checks:\n  lint: sh check.sh lint\n  test: {run: sh check.sh test, timeout: 1m}\n",
  "check.sh": `#!/bin/sh
# Stands in for the real checks: what says FIXME has a test that fails.
if grep -rn FIXME src; then
	echo "2 of 214 tests fail"
	exit 1
fi
echo "214 tests, all green"
`,
  "src/cart.ts": `import { cents } from "./money";

export interface Line {
  sku: string;
  price: number;
  count: number;
}

/** The total of a cart, in cents. */
export function total(lines: Line[]): number {
  return lines.reduce((sum, line) => sum + cents(line.price) * line.count, 0);
}
`,
  "src/money.ts": `/** A price in cents. */
export function cents(price: number): number {
  return Math.round(price * 100);
}
`,
  "src/webhooks/receive.ts": `import { pay } from "../orders";

export interface Delivery {
  id: string;
  endpoint: string;
  event: string;
  body: string;
}

/** Takes a delivery of a payment provider. */
export async function receive(delivery: Delivery): Promise<void> {
  await pay(delivery.event);
}
`,
  "src/orders.ts": `/** Marks an order as paid. */
export async function pay(event: string): Promise<void> {
  console.log("paid", event);
}
`,
};

/** The work of the agent that makes deliveries count once. */
export const receiveOnce = `import { pay } from "../orders";
import { deliveries } from "./store";

export interface Delivery {
  id: string;
  endpoint: string;
  event: string;
  body: string;
}

/** Takes a delivery of a payment provider; a repeated one changes nothing. */
export async function receive(delivery: Delivery): Promise<"taken" | "repeated"> {
  const key = \`\${delivery.endpoint}/\${delivery.event}\`;
  if (!(await deliveries.claim(key))) return "repeated";
  await pay(delivery.event);
  return "taken";
}
`;

export const store = `/** Which deliveries were taken, kept for 30 days. */
class Deliveries {
  private readonly taken = new Map<string, number>();

  /** True for the first one that claims a key. */
  async claim(key: string): Promise<boolean> {
    if (this.taken.has(key)) return false;
    this.taken.set(key, Date.now());
    return true;
  }
}

export const deliveries = new Deliveries();
`;

export const storeTest = `import { expect, test } from "vitest";
import { deliveries } from "./store";

test("a delivery is taken once", async () => {
  expect(await deliveries.claim("stripe/evt_1")).toBe(true);
  expect(await deliveries.claim("stripe/evt_1")).toBe(false);
});
`;
