import { describe, expect, it } from 'vitest';

import { decideGate, skippedTitle } from './gate.ts';
import { skippedLines } from './skipped-tests.ts';

const missing = ['helm not found; run `make envtest`', undefined, 'no Chromium found; run `make browser`'];
const reason = 'helm not found; run `make envtest`; no Chromium found; run `make browser`';

describe('tests that need what npm does not install', () => {
  it.each([
    [[], undefined, { kind: 'run', reason: '' }],
    [[undefined], 'true', { kind: 'run', reason: '' }],
    [missing, undefined, { kind: 'skip', reason }],
    [missing, '', { kind: 'skip', reason }],
    [missing, 'false', { kind: 'skip', reason }],
    [missing, 'true', { kind: 'fail', reason }],
  ])('with %j missing and CI %j: %j', (lines, ci, decision) => {
    expect(decideGate(lines, ci)).toEqual(decision);
  });

  it('are counted by the reason at the end of the run', () => {
    const skipped = [
      ['a file', skippedTitle('one', 'helm not found; run `make envtest`'), 'a test'],
      ['a file', skippedTitle('one', 'helm not found; run `make envtest`'), 'another'],
      ['a file', skippedTitle('two', 'no Chromium found; run `make browser`'), 'a test'],
      ['left out by a filter'],
    ];
    expect(skippedLines(skipped)).toEqual([
      'skipped 2 tests: helm not found; run `make envtest`',
      'skipped 1 test: no Chromium found; run `make browser`',
    ]);
  });
});
