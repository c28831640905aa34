import { expect, test } from "vitest";
import { closed, languageOf, tokenize } from "./syntax";

/** Inks of all pieces that have one, line by line. */
function inks(path: string, text: string): string[] {
  let open = closed;
  return text.split("\n").flatMap((line) => {
    const read = tokenize(languageOf(path), line, open);
    open = read.open;
    expect(read.tokens.map((one) => one.text).join("")).toBe(line);
    return read.tokens.filter((one) => one.ink !== null).map((one) => `${one.ink}:${one.text}`);
  });
}

test.each([
  ["a.go", 'if x := f("a\\"b"); x { // c', ["kw:if", "fn:f", 'str:"a\\"b"', "com:// c"]],
  ["a.go", "x := `one\ntwo` + y\n/* a\nb */ return", ["str:`one", "str:two`", "com:/* a", "com:b */", "kw:return"]],
  ["a.ts", "const a = 'x' // n", ["kw:const", "str:'x'", "com:// n"]],
  ["a.py", 'def f():\n  """doc\n  more"""\n  return 1 # c', ["kw:def", "fn:f", 'str:"""doc', 'str:  more"""', "kw:return", "com:# c"]],
  ["a.sh", 'if [ "$#" = 1 ]; then echo a#b # c', ["kw:if", 'str:"$#"', "kw:then", "com:# c"]],
  ["a.sql", "SELECT 1 -- c", ["kw:SELECT", "com:-- c"]],
  ["LICENSE", "if return", []],
])("%s: %s", (path, text, want) => {
  expect(inks(path, text)).toEqual(want);
});

test("nothing is lost in any text", () => {
  const signs = ["`", '"', "'", "\\", "/*", "*/", "//", "#", '"""', "(", "é", "x1", " ", "\t"];
  let seed = 7;
  const roll = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let i = 0; i < 500; i++) {
    const text = Array.from({ length: 30 }, () => signs[roll(signs.length)]).join("");
    for (const path of ["a.go", "a.py", "a.sh", "a.sql", "a.html", "a.lua"]) inks(path, text);
  }
});
