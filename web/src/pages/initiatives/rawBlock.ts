import { mergeAttributes, Node } from "@tiptap/core";

/**
 * Markdown that the editor has no node for, as it is written: HTML, a comment, a
 * definition, the head of YAML. It is text, edited as such, and goes back as it came.
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
    return {
      Enter: () => this.editor.isActive(this.name) && this.editor.commands.insertContent("\n"),
      // Out of the last block, below which there is nothing to go to.
      ArrowDown: () => {
        const { doc, selection } = this.editor.state;
        return selection.empty && this.editor.isActive(this.name) && selection.to === doc.content.size - 1 && this.editor.commands.exitCode();
      },
    };
  },
});
