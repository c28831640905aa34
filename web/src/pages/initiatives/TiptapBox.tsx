import { Editor, type JSONContent } from "@tiptap/core";
import Image from "@tiptap/extension-image";
import { RawBlock } from "./rawBlock";
import { TaskItem, TaskList } from "@tiptap/extension-list";
import { TableKit } from "@tiptap/extension-table";
import StarterKit from "@tiptap/starter-kit";
import { useEffect, useRef } from "react";
import "./prose.css";

/** What the page may do with the editor. */
export interface EditorControl {
  /** Shows another text, without telling that it was written. */
  show: (document: JSONContent) => void;
  focus: () => void;
}

interface Props {
  document: JSONContent;
  editable: boolean;
  label: string;
  onEdit: (document: JSONContent) => void;
  onLeave: () => void;
  onReady: (control: EditorControl | null) => void;
}

/*
 * The schema is the one that internal/tiptap writes for: no underline, for
 * which Markdown has nothing, and no empty paragraph at the end, which would
 * count as something that was written.
 */
const extensions = [
  StarterKit.configure({ underline: false, trailingNode: false, link: { openOnClick: false } }),
  RawBlock,
  TableKit,
  TaskList,
  TaskItem.configure({ nested: true, a11y: { checkboxLabel: (node, checked) => `${checked ? "Done" : "Open"}: ${node.textContent}` } }),
  Image.configure({ inline: true, allowBase64: true }),
];

/** The editor: a file of its own, since it is as heavy as everything else together. */
export default function TiptapBox(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const now = useRef(props);
  now.current = props;
  useEffect(() => {
    const { document, editable, label } = now.current;
    const editor = new Editor({
      element: host.current,
      injectCSS: false, // the policy of the pages allows no style elements: prose.css has what it needs
      extensions,
      editable,
      content: filled(document),
      editorProps: {
        attributes: { role: "textbox", "aria-multiline": "true", "aria-label": label, class: "prose" },
        // ProseMirror takes Escape for itself; here it leaves the text, so that the page's keys work again.
        handleKeyDown: (view, event) => {
          if (event.key !== "Escape") return false;
          view.dom.blur();
          return true;
        },
      },
      onUpdate: () => now.current.onEdit(editor.getJSON()),
      onBlur: () => now.current.onLeave(),
    });
    const focus = () => {
      editor.commands.focus("end");
      editor.view.focus(); // the command waits for a frame, in which letters would be keys of the page
    };
    now.current.onReady({ show: (next) => editor.commands.setContent(filled(next), { emitUpdate: false }), focus });
    return () => {
      now.current.onReady(null);
      editor.destroy();
    };
  }, []);
  return <div ref={host} />;
}

/** A document has at least one block, an empty page has none. */
function filled(document: JSONContent): JSONContent {
  return document.content && document.content.length > 0 ? document : { type: "doc", content: [{ type: "paragraph" }] };
}
