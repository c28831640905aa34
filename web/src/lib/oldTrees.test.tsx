import { act, render, screen } from "@testing-library/preact";
import { memo, useState } from "react";
import { expect, test } from "vitest";
import { letOldTreesGo } from "./oldTrees";

letOldTreesGo();

const Row = memo(function Row({ text }: { text: string }) {
  return <li>{text}</li>;
});

test("a tree that was replaced is not kept by the parent's children", () => {
  let set: (n: number) => void = () => undefined;
  function List() {
    const [n, setN] = useState(0);
    set = setN;
    return <ul><Row text="same" /><Row text={`n ${n}`} /></ul>;
  }
  const list = <List />;
  render(<main>{list}</main>);
  for (let n = 1; n <= 3; n++) void act(() => set(n));
  expect(screen.getAllByRole("listitem").map((one) => one.textContent)).toEqual(["same", "n 3"]);
  expect((list as unknown as { __k?: unknown }).__k).toBeUndefined();
});
