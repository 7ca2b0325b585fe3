// The tests that `make mutants` runs: those beside the files, and with STORIES=1 also the stories.
import { defineConfig } from 'vitest/config';

const stories = process.env.STORIES === '1' ? ['test/stories/**/*.test.ts'] : [];

export default defineConfig({
  test: {
    include: ['src/{care,preflight,prober,weeder}/**/*.test.ts', ...stories],
    isolate: false,
    testTimeout: 20_000,
  },
});
