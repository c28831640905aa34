/** A node of the editor's document, as far as its words matter. */
export interface DocumentNode {
  type?: string;
  text?: string;
  attrs?: Record<string, unknown>;
  content?: DocumentNode[];
}

const items = new Set(["listItem", "taskItem"]);
const lines = new Set(["paragraph", "heading", "codeBlock", "rawBlock", "horizontalRule", "tableRow"]);

/** The words of a document, a line for each block: to look at, not to store. */
export function plainText(node: DocumentNode): string {
  if (node.type === "text") return node.text ?? "";
  if (node.type === "hardBreak") return "\n";
  const inner = node.content ?? [];
  if (node.type === "tableRow") return inner.map((cell) => plainText(cell).trim()).join(" | ");
  if (lines.has(node.type ?? "")) return inner.map(plainText).join("");
  const text = inner.map(plainText).join("\n");
  if (!items.has(node.type ?? "")) return text;
  const mark = node.type === "taskItem" ? (node.attrs?.checked === true ? "[x] " : "[ ] ") : "";
  return `- ${mark}${text.replaceAll("\n", "\n  ")}`;
}
