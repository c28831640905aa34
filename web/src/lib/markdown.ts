/** A piece of a line. */
export type Inline =
  | { kind: "text" | "code" | "bold" | "soft"; text: string }
  | { kind: "link"; text: string; href: string };

/** A block of a text. */
export type Block =
  | { kind: "paragraph" | "quote"; parts: Inline[] }
  | { kind: "heading"; level: number; parts: Inline[] }
  | { kind: "list"; ordered: boolean; start: number; items: { depth: number; parts: Inline[] }[] }
  | { kind: "code"; text: string }
  | { kind: "rule" };

const inline = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])|\[([^\]\n]+)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>()"'`]+[^\s<>()"'`.,;:!?])/g;
const item = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;

/** Only the web may be led to. */
function webAddress(href: string): string | null {
  return /^https?:\/\//i.test(href) ? href : null;
}

/** The pieces of a line: code, bold, links. What is none of these is text. */
export function inlineOf(text: string): Inline[] {
  const parts: Inline[] = [];
  let end = 0;
  for (const found of text.matchAll(inline)) {
    if (found.index > end) parts.push({ kind: "text", text: text.slice(end, found.index) });
    end = found.index + found[0].length;
    const [whole, code, bold, soft, name, target, address] = found;
    const href = webAddress(target ?? address ?? "");
    if (code !== undefined) parts.push({ kind: "code", text: code });
    else if (bold !== undefined) parts.push({ kind: "bold", text: bold });
    else if (soft !== undefined) parts.push({ kind: "soft", text: soft });
    else if (href !== null) parts.push({ kind: "link", text: name ?? whole, href });
    else parts.push({ kind: "text", text: name ?? whole });
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}

/**
 * A small part of Markdown: paragraphs, headings, lists, code, quotes, rules.
 * Everything else, HTML too, stays the text that it is.
 */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let words: string[] = [];
  const close = () => {
    if (words.length > 0) blocks.push({ kind: "paragraph", parts: inlineOf(words.join("\n")) });
    words = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const entry = item.exec(line);
    if (fence !== undefined) {
      close();
      const ends = lines.findIndex((one, i) => i > at && one.trim().startsWith(fence));
      blocks.push({ kind: "code", text: lines.slice(at + 1, ends < 0 ? undefined : ends).join("\n") });
      at = ends < 0 ? lines.length : ends;
    } else if (line.trim() === "") close();
    else if (heading) {
      close();
      blocks.push({ kind: "heading", level: (heading[1] as string).length, parts: inlineOf(heading[2] as string) });
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      close();
      blocks.push({ kind: "rule" });
    } else if (entry) {
      close();
      addItem(blocks, entry);
    } else if (/^\s*>/.test(line)) {
      close();
      addQuote(blocks, line.replace(/^\s*> ?/, ""));
    } else words.push(line);
  }
  close();
  return blocks;
}

function addItem(blocks: Block[], found: RegExpExecArray): void {
  const [, indent = "", bullet, number, text = ""] = found;
  const one = { depth: Math.min(3, Math.floor(indent.replace(/\t/g, "  ").length / 2)), parts: inlineOf(text) };
  const last = blocks.at(-1);
  const ordered = bullet === undefined;
  if (last?.kind === "list" && (last.ordered === ordered || one.depth > 0)) last.items.push(one);
  else blocks.push({ kind: "list", ordered, start: Number(number ?? 1), items: [one] });
}

function addQuote(blocks: Block[], text: string): void {
  const last = blocks.at(-1);
  if (last?.kind === "quote") last.parts.push({ kind: "text", text: "\n" }, ...inlineOf(text));
  else blocks.push({ kind: "quote", parts: inlineOf(text) });
}
