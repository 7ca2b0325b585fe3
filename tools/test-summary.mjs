// Prints the last line of a test run, from vitest's JSON report and exit status:
//   node tools/test-summary.mjs REPORT STATUS
import { readFileSync } from 'node:fs';

const [path, status] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, 'utf8'));

// A file that does not load, or whose hooks fail, has no failed test in the report; it counts as one.
const broken = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
);
for (const file of broken) process.stdout.write(`failed outside of its tests: ${file.name}\n`);

// An unhandled rejection fails the run without failing a test, and is not in the report.
let failed = report.numFailedTests + broken.length;
if (failed === 0 && status !== '0') {
  process.stdout.write('errors outside of any test\n');
  failed = 1;
}

const skipped = report.numPendingTests + report.numTodoTests;
const closing = `${report.numPassedTests} passed, ${failed} failed`;
process.stdout.write(`${skipped === 0 ? closing : `${closing}, ${skipped} skipped`}\n`);
process.exitCode = failed === 0 ? 0 : 1;
