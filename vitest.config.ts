import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { skippedTests } from './test/skipped-tests.ts';

const real = (...names: readonly string[]): readonly string[] => names.map((name) => `test/real/${name}.test.ts`);

/** Tests that compute for minutes, or that check the responses of a real API server or of a process. Their results do not depend on the machine's load. */
const answerTests = [
  ...real('chart-outage', 'chart', 'completion', 'documents', 'drop-in', 'envtest', 'healthcheck-package'),
  ...real('least-privilege-care', 'least-privilege', 'package', 'policy', 'random-plans'),
  ...real('rehearse', 'webhooks', 'bench'),
  'test/contract/**/*.test.ts',
  'test/architecture/regular-expressions.test.ts',
  'test/reference-objects/source.test.ts',
  'simulator/{demo,rehearsal}/**/{demo,weeder,prober,care,run,rehearsal,growth}.test.ts',
  'simulator/outages/{planted-bugs,simulation}.test.ts',
  'src/config/{mutations,properties,size}.test.ts',
  'test/config-schema.test.ts',
  'test/memory/**/*.test.ts',
  'test/monitoring/**/*.test.ts',
  'test/stories/{care-faults,external-probe,late-responses,mass-outage}.test.ts',
];
/** Tests that run alone, because they compare the speeds of two programs. */
const loneTests = [...real('hostile-shoots')];
const realTests = 'test/real/**/*.test.ts';
const patient = { testTimeout: 120_000, hookTimeout: 120_000, retry: 0 };

/** Tests that take longest or mostly wait. They start first, so that none of them still runs when all others have ended. */
const longest = [
  ...['leaks', 'silent-watches', 'kill-matrix', 'downtime', 'faults', 'operator', 'succession', 'secret-source'],
  ...['image', 'demo', 'demo-care', 'process', 'steer', 'leader-election-program', 'care'],
  ...['bench', 'contract', 'least-privilege-care', 'least-privilege', 'chart-outage'],
  ...['planted-bugs', 'simulation', 'size', 'rehearsal', 'healthcheck-package'],
];
const rank = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return index === -1 ? longest.length : index;
};

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    reporters: ['default', ['json', { outputFile: '.cache/test-report.json' }], skippedTests],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'simulator/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...answerTests, realTests],
          maxWorkers: 2,
          // No module keeps state between tests. Loading the same modules again for each file would double the time.
          isolate: false,
          testTimeout: 20_000,
          retry: 0,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...patient, name: 'answers', include: answerTests, maxWorkers: 4, sequence: { groupOrder: 1 } } },
      {
        // Tests that mostly wait in real time and need little CPU time.
        test: {
          ...patient,
          name: 'process',
          include: [realTests],
          exclude: [...answerTests, ...loneTests],
          maxWorkers: 6,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...patient, name: 'alone', include: loneTests, maxWorkers: 1, sequence: { groupOrder: 3 } } },
    ],
  },
});
