import { defineConfig } from 'vitest/config';

const processTests = [
  'test/e2e/**/*.test.ts',
  'test/contract/**/*.test.ts',
  'test/envtest/envtest.test.ts',
  // No process, but minutes of computing.
  'test/architecture/regular-expressions.test.ts',
];

export default defineConfig({
  test: {
    reporters: ['default', ['json', { outputFile: '.cache/test-report.json' }]],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: processTests,
          maxWorkers: 2,
          testTimeout: 20_000,
          retry: 0,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // One file at a time, after the unit tests: each starts real processes and measures real seconds.
        test: {
          name: 'process',
          include: processTests,
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          retry: 0,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
