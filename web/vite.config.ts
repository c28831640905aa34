import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// Where a daemon answers while pages are worked on: CW_HTTP=http://127.0.0.1:7420.
const daemon = process.env.CW_HTTP ?? "http://127.0.0.1:7420";

interface Modules {
  getModuleInfo: (id: string) => { importedIds: string[] } | null;
}

/** A file and all that it imports, without what is loaded later. */
function needs(modules: Modules, file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const one of modules.getModuleInfo(file)?.importedIds ?? []) needs(modules, one, found);
  return found;
}

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
// A library's index names these, and only pages that are loaded later use them.
const later = /useQueries|queriesObserver|useMutation|mutationObserver|nfiniteQuery/;

/** What every page needs is one file and what Now needs beside it is another: two pack better than forty. */
function chunkOf(id: string, modules: Modules): string | null {
  const main = path("src/main.tsx");
  if (id === main || later.test(id)) return null;
  if (needs(modules, main).has(id)) return "frame";
  return needs(modules, path("src/pages/now/NowPage.tsx")).has(id) ? "now" : null;
}

export default defineConfig({
  plugins: [tailwindcss()],
  resolve: {
    // Preact stands in for React: docs/decisions/0026-preact-for-react.md.
    alias: {
      "react/jsx-runtime": "preact/jsx-runtime",
      "react-dom/client": "preact/compat/client",
      "react-dom": "preact/compat",
      react: "preact/compat",
      "use-sync-external-store/shim/with-selector": path("src/lib/withSelector.ts"),
    },
    dedupe: ["preact"],
  },
  build: {
    target: "es2023",
    // Everything is a file of its own: the policy of the pages allows no data: scripts or styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    // "use client" means nothing here, and each library says it often.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: chunkOf }] } }, onLog: (level, log, tell) => log.code !== "MODULE_LEVEL_DIRECTIVE" && tell(level, log) },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing/setup.ts"],
    // The same stand-in for React inside of libraries, too.
    server: { deps: { inline: [/@tanstack/, /@testing-library/, /@tiptap/] } },
  },
  server: { proxy: { "/v1": { target: daemon, changeOrigin: true } } },
});
