import { expect, test } from "vitest";
import { plainText } from "./plainText";

const text = (words: string) => ({ type: "text", text: words });
const paragraph = (words: string) => ({ type: "paragraph", content: [text(words)] });

test("words of blocks, lists and tables", () => {
  const doc = {
    type: "doc",
    content: [
      { type: "heading", content: [text("Done when")] },
      { type: "taskList", content: [{ type: "taskItem", attrs: { checked: true }, content: [paragraph("a"), { type: "bulletList", content: [{ type: "listItem", content: [paragraph("b")] }] }] }] },
      { type: "table", content: [{ type: "tableRow", content: [{ type: "tableCell", content: [paragraph("1")] }, { type: "tableCell", content: [paragraph("2")] }] }] },
    ],
  };
  expect(plainText(doc)).toBe("Done when\n- [x] a\n  - b\n1 | 2");
});
