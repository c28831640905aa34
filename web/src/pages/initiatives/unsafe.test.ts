import { expect, test } from "vitest";
import { unsafe } from "./unsafe";

const text = (said: string) => ({ type: "doc", content: [{ type: "paragraph", content: [{ type: "text", text: said }] }] });
const picture = (src: string) => ({ type: "doc", content: [{ type: "paragraph", content: [{ type: "image", attrs: { src } }] }] });

test("a document is unsafe with a picture to fetch or a steering character", () => {
  for (const safe of [text("plain\ttext\nin lines"), text("Büßer 漢字 🦦"), text('"src":"x"'), text("\\u001b"), picture("data:image/png;base64,AA==")]) expect(unsafe(safe)).toBe(false);
  for (const bad of [picture("https://evil.invalid/pixel.png"), picture("x.png"), text("\u001b]8;;x\u0007"), text("\u0000"), text("\\\u001b"), text("a\u202eb"), text("\u009b1m")]) expect(unsafe(bad)).toBe(true);
});
