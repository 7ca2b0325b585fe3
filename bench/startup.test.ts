import { expect, it } from 'vitest';
import { idleTable, missedBy, startsTable } from './parts/startup-figures.ts';
import type { StartCost } from './parts/startup-measure.ts';

const starts = (...cpu: readonly number[]): readonly StartCost[] => cpu.map((cpuMs) => ({ cpuMs, wallMs: 2 * cpuMs }));
const memory = (megabytes: number) => ({ resident: megabytes * 1e6, anonymous: megabytes * 5e5 });

it('the table compares the median start-up with that of Node alone', () => {
  const rows = [
    { name: 'node alone', starts: starts(20, 10, 90) },
    { name: 'dwd', component: 'prober' as const, starts: starts(100, 50, 70) },
  ];
  expect(startsTable(rows).split('\n').at(-1)).toMatch(/^\| dwd prober +\| 70 +\| 50 to 100 +\| 3\.5 +\| 140 +\|$/);
});

it('a slow start and more memory than the other program has miss the aims', () => {
  const slow = { name: 'dwd', component: 'weeder' as const, starts: starts(301, 301) };
  const idle = [
    { name: 'dwd', component: 'prober' as const, memory: memory(80) },
    { name: 'dwd', component: 'weeder' as const, memory: memory(40) },
    { name: 'target', component: 'prober' as const, memory: memory(60) },
    { name: 'target', component: 'weeder' as const, memory: memory(60) },
  ];
  expect(missedBy('dwd', [slow], idle)).toEqual([
    'dwd weeder: 301 ms of CPU to the first line, aim 300',
    'dwd prober: 80 MB idle, aim at most 60, that of target',
  ]);
  expect(missedBy('dwd', [{ ...slow, starts: starts(300) }], idle.slice(0, 2))).toEqual([]);
  expect(idleTable(idle.slice(0, 1))).toMatch(/\| dwd prober \| 80 +\| 40 +\|$/);
});
