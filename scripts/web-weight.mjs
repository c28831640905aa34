// How much a browser loads before the first page stands: index.html, the entry
// and the page Now with all that they import, their styles and their fonts, as
// they travel. More than 120 kB is an error.
//   node web-weight.mjs web/dist
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const MOST = 120_000;
const FIRST_PAGE = /NowPage/;

const dist = process.argv[2] ?? "web/dist";
const manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8"));
const files = new Set(["index.html"]);
const seen = new Set();

function take(name) {
  const chunk = manifest[name];
  if (!chunk || seen.has(name)) return;
  seen.add(name);
  for (const file of [chunk.file, ...(chunk.css ?? []), ...(chunk.assets ?? [])]) files.add(file);
  for (const below of chunk.imports ?? []) take(below);
}

for (const [name, chunk] of Object.entries(manifest)) {
  if (chunk.isEntry) take(name);
}
for (const name of [...seen]) {
  const page = (manifest[name].dynamicImports ?? []).find((one) => FIRST_PAGE.test(one));
  if (page) take(page);
}
if (![...seen].some((name) => FIRST_PAGE.test(name))) throw new Error("the first page is not in the manifest");

const fonts = /\.woff2$/;
let total = 0;
for (const file of files) {
  const data = readFileSync(join(dist, file));
  const size = fonts.test(file) ? data.length : gzipSync(data, { level: 9 }).length;
  total += size;
  console.log(`  ${String(size).padStart(7)}  ${file}`);
}
console.log(`first load: ${(total / 1000).toFixed(1)} kB of ${MOST / 1000} kB`);
if (total > MOST) {
  console.error("The first load is too heavy: what is not needed at once belongs into a lazy chunk.");
  process.exit(1);
}
