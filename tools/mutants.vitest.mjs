// The tests that `make mutants` runs: the quick ones of the components, and with SLOW=1 also those that compute for seconds, and the stories.
import { defineConfig } from 'vitest/config';

const isSlow = process.env.SLOW === '1';

export default defineConfig({
  test: {
    include: ['src/{care,preflight,prober,weeder}/**/*.test.ts', ...(isSlow ? ['test/stories/**/*.test.ts'] : [])],
    exclude: isSlow ? [] : ['**/*.properties.test.ts', '**/bad-input.test.ts'],
    isolate: false,
    testTimeout: 20_000,
  },
});
