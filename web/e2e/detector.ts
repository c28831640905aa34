import type { Page } from "playwright-core";

/**
 * Shows all of a page, bit by bit, and gives the texts that were seen: every
 * fold is opened, every box that scrolls is scrolled from its end to its top,
 * and back, for what is opened pushes away what stands below. Questions that
 * come one after the other are gone through. What stands in fields to be
 * edited is whole, so it comes apart.
 */
export function readWhole(page: Page): Promise<{ text: string; written: string }> {
  return page.evaluate(async () => {
    const seen: string[] = [];
    const written: string[] = [];
    const clicked = new WeakSet<Element>();
    const paint = () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
    const settle = async () => {
      await paint();
      for (let i = 0; i < 200 && document.querySelector('[aria-label="Reading"], [aria-busy="true"]'); i++) await new Promise((done) => setTimeout(done, 20));
    };
    const unfold = () => {
      for (const fold of document.querySelectorAll<HTMLDetailsElement>("main details:not([open])")) fold.open = true;
      const more = [...document.querySelectorAll<HTMLElement>('main [aria-expanded="false"]:not([aria-haspopup]):not([aria-controls="inbox-detail"]), main button')];
      const next = more.filter((one) => {
        if (one.hasAttribute("aria-expanded")) return !clicked.has(one) && one.ariaExpanded === "false";
        return /more characters|before this|^Show all [\d,]+ lines|^Show .*more proposal/.test(one.textContent) && !(one as HTMLButtonElement).disabled;
      });
      for (const one of next) {
        clicked.add(one);
        one.click();
      }
      return next.length > 0;
    };
    const look = async () => {
      for (let i = 0; i < 60 && unfold(); i++) await settle();
      seen.push(document.body.textContent ?? "");
      written.push(...[...document.querySelectorAll<HTMLTextAreaElement>("textarea")].map((one) => one.value));
    };
    const through = async (box: Element, step: number) => {
      for (let still = 0, i = 0; still < 3 && i < 150; i++) {
        const before = box.scrollTop;
        box.scrollTop = before + box.clientHeight * step;
        await settle();
        await look();
        still = box.scrollTop === before ? still + 1 : 0;
      }
    };
    await settle();
    await look();
    const boxes = [...document.querySelectorAll("main, main *")].filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight + 4 && one.clientHeight > 100);
    for (const box of boxes) {
      box.scrollTop = box.scrollHeight;
      await settle();
      await through(box, -0.8);
      await through(box, 0.8);
    }
    for (let i = 0; i < 120; i++) {
      const next = [...document.querySelectorAll<HTMLButtonElement>("main form button[type=submit]")].find((one) => one.textContent.includes("Next question"));
      if (!next) break;
      next.form?.querySelector<HTMLInputElement>("[data-option]")?.click();
      await paint();
      next.click();
      await paint();
      seen.push(document.querySelector("main")?.textContent ?? "");
    }
    return { text: seen.join("\n"), written: written.join("\n") };
  });
}

/** Characters that steer instead of being read: none of them is to reach a page. */
const steering = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

/** Where a text has such characters, with what stands around them. */
export function steered(text: string): string[] {
  const found = steering.exec(text);
  return found ? [`steering character ${JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 40))}`] : [];
}

/** Whatever in the page is more than text: links that lead to scripts, foreign pictures, handlers, frames. */
export function smuggled(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const leads = ["href", "src", "action", "formaction", "xlink:href", "data", "srcdoc", "poster", "to", "values"];
    const tags = /^(iframe|object|embed|base|meta|link|style|template|noscript|marquee|math|animate|set|use|frame|portal)$/i;
    const own = (address: string) => address.startsWith(`${location.origin}/`);
    const bad = (one: Element): string | null => {
      for (const { name, value } of one.attributes) {
        if (name.startsWith("on")) return `has ${name}`;
        if (leads.includes(name) && /^[\s\u0000-\u001f]*(javascript|vbscript|data:text)/i.test(value)) return `leads by ${name}`;
        if (name === "style" && /url\(|expression|@import/i.test(value)) return "loads by its style";
      }
      if (one.closest("head, body > noscript") === null && tags.test(one.tagName) && !(one.tagName.toLowerCase() === "use" && (one.getAttribute("href") ?? "").startsWith("/"))) return "does not belong here";
      // A script of an SVG is one, too.
      if (one.localName === "script" && !(one instanceof HTMLScriptElement && own(one.src))) return "is a script";
      if (one instanceof HTMLImageElement && !own(one.src) && !one.src.startsWith("data:image/")) return "is a foreign picture";
      if (one instanceof HTMLAnchorElement && one.target === "_blank" && !one.relList.contains("noopener") && !one.relList.contains("noreferrer")) return "opens with an opener";
      if (one instanceof HTMLAnchorElement && one.protocol !== "" && !["http:", "https:"].includes(one.protocol)) return `leads to ${one.protocol}`;
      return null;
    };
    return [...document.querySelectorAll("*")].flatMap((one) => {
      const why = bad(one);
      return why === null ? [] : [`${one.tagName.toLowerCase()} ${why}: ${one.outerHTML.slice(0, 120)}`];
    });
  });
}
