import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// Where a daemon answers while pages are worked on: CW_HTTP=http://127.0.0.1:7420.
const daemon = process.env.CW_HTTP ?? "http://127.0.0.1:7420";

export default defineConfig({
  plugins: [tailwindcss()],
  resolve: {
    // Preact stands in for React: docs/decisions/0026-preact-for-react.md.
    alias: {
      "react/jsx-runtime": "preact/jsx-runtime",
      "react-dom/client": "preact/compat/client",
      "react-dom": "preact/compat",
      react: "preact/compat",
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
    rolldownOptions: { onLog: (level, log, tell) => log.code !== "MODULE_LEVEL_DIRECTIVE" && tell(level, log) },
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
