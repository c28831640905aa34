import { expect, test } from "vitest";
import { FrameReader } from "./sse";

const stream = ': alive\n\nid: 7\ndata: {"a":"ö"}\n\nevent: mark\nid: 9\ndata: {}\n\ndata: one\ndata: two\n\n';
const frames = [
  { id: "7", event: "", data: '{"a":"ö"}' },
  { id: "9", event: "mark", data: "{}" },
  { id: null, event: "", data: "one\ntwo" },
];

test("frames come out whole, however the bytes are cut", () => {
  const bytes = new TextEncoder().encode(stream);
  for (let size = 1; size <= bytes.length; size++) {
    const reader = new FrameReader();
    const got = [];
    for (let at = 0; at < bytes.length; at += size) got.push(...reader.push(bytes.slice(at, at + size)));
    expect(got).toEqual(frames);
  }
});

test("what is not whole is kept back", () => {
  const reader = new FrameReader();
  expect(reader.push(new TextEncoder().encode("id: 1\ndata: x\n"))).toEqual([]);
  expect(reader.push(new TextEncoder().encode("\n"))).toEqual([{ id: "1", event: "", data: "x" }]);
});
