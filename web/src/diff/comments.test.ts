import { expect, test } from "vitest";
import { Comments, promptOf } from "./comments";

test("remarks outlive the page; what was sent goes, what is written meanwhile stays", () => {
  const first = new Comments(localStorage, "cw.comments.task.x");
  first.add({ path: "a.go", side: "new", line: 3, quote: "x", text: "why?" });
  const again = new Comments(localStorage, "cw.comments.task.x");
  const [sent] = again.all.get();
  again.add({ path: "a.go", side: "new", line: 9, quote: "y", text: "" });
  again.sent([sent?.id ?? ""]);
  expect(new Comments(localStorage, "cw.comments.task.x").all.get().map((one) => one.line)).toEqual([9]);
});

test("what the storage holds may be broken", () => {
  localStorage.setItem("k", "{");
  expect(new Comments(localStorage, "k").all.get()).toEqual([]);
});

test("the agent is told each place with its line", () => {
  const text = promptOf(
    [
      { id: "2", path: "b.go", side: "old", line: 9, quote: "\tgone()", text: "Keep this." },
      { id: "1", path: "a.go", side: "new", line: 3, quote: "x := 1", text: "Name it." },
    ],
    "3f9c2d1aaaaaaaa",
  );
  expect(text).toBe(
    "A person read your changes up to 3f9c2d1aaa and has 2 remarks. Deal with each of them, or say why not.\n\n" +
      "a.go:3\n> x := 1\nName it.\n\nb.go:9 (a line that was removed)\n> gone()\nKeep this.\n",
  );
});
