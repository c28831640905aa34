import { defineConfig } from "vitest/config";

// The tests in a real browser against the real daemon: one file after the
// other, since each loads the whole machine.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    // What is measured needs a quiet machine, and pictures are made when somebody wants them: make bench-web, make pictures.
    exclude: [...(process.env.CW_LOAD ? [] : ["e2e/load.test.ts"]), ...(process.env.CW_PICTURES ? [] : ["e2e/pictures.test.ts"])],
    globalSetup: ["e2e/setup.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 240_000,
    teardownTimeout: 30_000,
    retry: 0,
  },
});
