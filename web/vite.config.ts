import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// Where a daemon answers while pages are worked on: CW_HTTP=http://127.0.0.1:7420.
const daemon = process.env.CW_HTTP ?? "http://127.0.0.1:7420";

// What each page needs, in one file, and Now in another: they pack better than forty small ones. What only
// some pages need of these folders is left to them.
const frame = /node_modules\/(preact|@tanstack\/(react-)?(query|router|store|history))|\/src\/(lib|api|ui|app)\//;
const notFrame = /useQueries|queriesObserver|useMutation|mutationObserver|nfiniteQuery|app\/(Palette|palette|NewAgent|spawn|AllKeys)|ui\/(Dialog|Pick|TextArea|Markdown|Meter|QuestionForm)|lib\/(markdown|minutes)|api\/\w+Queries/;
const now = /\/src\/(pages\/now\/|ui\/Pick)/;
const notNow = /now\/(details|NoAgents|agents\/(BulkBar|[sS]avedFilters)|acts\/(Asking|MessageDialog|StopDialog|calls|perform)|inbox\/(Question|Options|drafts|Answered))/;
const groups = [
  { name: "frame", test: (id: string) => frame.test(id) && !notFrame.test(id), priority: 1 },
  { name: "now", test: (id: string) => now.test(id) && !notNow.test(id) },
];

export default defineConfig({
  plugins: [tailwindcss()],
  resolve: {
    // Preact stands in for React: docs/decisions/0026-preact-for-react.md.
    alias: {
      "react/jsx-runtime": "preact/jsx-runtime",
      "react-dom/client": "preact/compat/client",
      "react-dom": "preact/compat",
      react: "preact/compat",
      "use-sync-external-store/shim/with-selector": fileURLToPath(new URL("src/lib/withSelector.ts", import.meta.url)),
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
    rolldownOptions: { output: { codeSplitting: { groups } }, onLog: (level, log, tell) => log.code !== "MODULE_LEVEL_DIRECTIVE" && tell(level, log) },
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
