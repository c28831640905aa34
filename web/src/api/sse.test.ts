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

test.each(["\r\n", "\r"])("lines may end with %j, also where the bytes are cut", (ending) => {
  const bytes = new TextEncoder().encode(`${stream.replaceAll("\n", ending)}: alive${ending}`);
  for (let size = 1; size <= bytes.length; size++) {
    const reader = new FrameReader();
    const got = [];
    for (let at = 0; at < bytes.length; at += size) got.push(...reader.push(bytes.slice(at, at + size)));
    expect(got).toEqual(frames);
  }
});

test("a long frame is read in time that grows with its length alone", { timeout: 10_000 }, () => {
  const bytes = new TextEncoder().encode(`data: ${"x".repeat(12_000_000)}\n\n`);
  const reader = new FrameReader();
  const got = [];
  const until = performance.now() + 5000; // a small part of it is needed; it is too short for who looks at everything again with each piece
  for (let at = 0; at < bytes.length && performance.now() < until; at += 8192) got.push(...reader.push(bytes.subarray(at, at + 8192)));
  expect(got.map((frame) => frame.data.length)).toEqual([12_000_000]);
});

test("what is not whole is kept back", () => {
  const reader = new FrameReader();
  expect(reader.push(new TextEncoder().encode("id: 1\ndata: x\n"))).toEqual([]);
  expect(reader.push(new TextEncoder().encode("\n"))).toEqual([{ id: "1", event: "", data: "x" }]);
});
