import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

const names = ['probeInterval', 'probeTimeout', 'initialDelay', 'level', 'timeout', 'ref'];

it.each([
  ['probeIntervl', 'probeInterval'],
  ['porbeInterval', 'probeInterval'],
  ['probe_interval', 'probeInterval'],
  ['intialDelay', 'initialDelay'],
  ['refs', 'ref'],
  ['replicas', undefined],
  ['', undefined],
  ['p'.repeat(10_000), undefined],
])('takes %s for %s', (name, expected) => {
  expect(nearest(name, names)).toBe(expected);
});
