// Reads documents of the editor on stdin, one JSON value a line, and prints for
// each a line: "ok", or why the editor's schema refuses it.
import { createInterface } from "node:readline";
import { getSchema, Node } from "@tiptap/core";
import Image from "@tiptap/extension-image";
import { TaskItem, TaskList } from "@tiptap/extension-list";
import { TableKit } from "@tiptap/extension-table";
import StarterKit from "@tiptap/starter-kit";

// StarterKit has the links. Markdown has its images in lines, and tasks below
// tasks; the rest is as it comes.
const schema = getSchema([
  StarterKit,
  Node.create({ name: "rawBlock", group: "block", content: "text*", marks: "", code: true }),
  TableKit,
  TaskList,
  TaskItem.configure({ nested: true }),
  Image.configure({ inline: true, allowBase64: true }),
]);

for await (const line of createInterface({ input: process.stdin })) {
  try {
    schema.nodeFromJSON(JSON.parse(line)).check();
    console.log("ok");
  } catch (error) {
    console.log(String(error.message).replaceAll("\n", " "));
  }
}
