import { mergeAttributes, Node } from "@tiptap/core";

/**
 * Markdown that the editor has no node for, as it is written: HTML, a comment, a
 * definition. It is text, edited as such, and goes back as it came.
 */
export const RawBlock = Node.create({
  name: "rawBlock",
  group: "block",
  content: "text*",
  marks: "",
  code: true,
  defining: true,
  parseHTML: () => [{ tag: "pre[data-raw]", preserveWhitespace: "full", priority: 60 }],
  renderHTML: ({ HTMLAttributes }) => ["pre", mergeAttributes(HTMLAttributes, { "data-raw": "", title: "Markdown that is kept as it is written" }), ["code", 0]],
  addKeyboardShortcuts() {
    return { Enter: () => this.editor.isActive(this.name) && this.editor.commands.insertContent("\n") };
  },
});
