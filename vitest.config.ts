import { defineConfig } from 'vitest/config';

/** What a real API server, or a program of its own, answers: the same on a busy machine. */
const answerTests = [
  ...[
    'chart-outage',
    'chart',
    'completion',
    'documents',
    'healthcheck-package',
    'install-upgrade',
    'install',
    'least-privilege-care',
    'least-privilege',
    'manifests',
    'package',
    'policy',
    'rehearse',
    'webhooks',
  ].map((name) => `test/e2e/${name}.test.ts`),
  'test/contract/**/*.test.ts',
  'test/envtest/envtest.test.ts',
  // No process, but minutes of computing.
  'test/architecture/regular-expressions.test.ts',
  'simulator/outages/{planted-bugs,simulation}.test.ts',
  'src/config/{mutations,properties}.test.ts',
  'test/config-schema.test.ts',
  'test/memory/**/*.test.ts',
  'test/stories/{care-faults,late-answers,mass-outage,outside}.test.ts',
];
const e2eTests = 'test/e2e/**/*.test.ts';
const patient = { testTimeout: 120_000, hookTimeout: 120_000, retry: 0 };

export default defineConfig({
  test: {
    reporters: ['default', ['json', { outputFile: '.cache/test-report.json' }]],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'simulator/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...answerTests, e2eTests],
          maxWorkers: 2,
          testTimeout: 20_000,
          retry: 0,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...patient, name: 'answers', include: answerTests, maxWorkers: 2, sequence: { groupOrder: 1 } } },
      {
        // One file at a time, after all others: each measures real seconds.
        test: {
          ...patient,
          name: 'process',
          include: [e2eTests],
          exclude: answerTests,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
