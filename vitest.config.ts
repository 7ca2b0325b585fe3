import { defineConfig } from 'vitest/config';
import { skippedTests } from './test/skipped-tests.ts';

// Folders decide how a test runs.

const tests = (...folders: readonly string[]): string[] => folders.map((folder) => `${folder}/**/*.test.ts`);

/** Components in the simulated seed, on virtual time. */
const stories = tests('test/stories');
/** Tests that compute for minutes, or that measure memory. */
const long = tests('simulator/{demo,outages,rehearsal}', 'test/{long,memory}');
/** Tests of the built program and of real servers. Most of their time they wait. */
const real = tests('test/{contract,monitoring,real}');
/** Those of them that compare the speeds of two programs, or that listen on the default ports. */
const alone = tests('test/real/alone');

// Only a hang exceeds these times, however busy the machine is.
const patient = { testTimeout: 600_000, hookTimeout: 600_000, retry: 0 };
// No module keeps state between tests. Loading the same modules again for each file would double the time.
const quick = { maxWorkers: 2, isolate: false, testTimeout: 20_000, retry: 0, sequence: { groupOrder: 0 } };

export default defineConfig({
  test: {
    reporters: ['default', ['json', { outputFile: '.cache/test-report.json' }], skippedTests],
    projects: [
      {
        test: {
          ...quick,
          name: 'unit',
          include: tests('src', 'simulator', 'test', 'bench'),
          exclude: [...stories, ...long, ...real],
        },
      },
      { test: { ...quick, name: 'story', include: stories } },
      { test: { ...patient, name: 'long', include: long, maxWorkers: 2, sequence: { groupOrder: 1 } } },
      { test: { ...patient, name: 'real', include: real, exclude: alone, maxWorkers: 6, sequence: { groupOrder: 2 } } },
      { test: { ...patient, name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 3 } } },
    ],
  },
});
