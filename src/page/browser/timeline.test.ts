import { describe, expect, it } from 'vitest';
import type { PageSample } from '../feed/index.ts';
import { outagesOf } from './timeline.tsx';

const graceMs = 40_000;
const sample = (at: number, held: number, marginMs?: number): PageSample => ({
  at,
  counts: { held, healthy: 5 - held },
  margin: marginMs === undefined ? undefined : { ms: marginMs, graceMs },
});

describe('the outages of the last hour', () => {
  it('begin when something is held, end when nothing is, and have the shortest margin', () => {
    const samples = [sample(0, 0), sample(5, 1, 9_000), sample(10, 3, 4_000), sample(15, 2, 6_000), sample(20, 0)];
    expect(outagesOf([...samples, sample(25, 1, 8_000)])).toEqual([
      { from: 5, to: 20, most: 3, margin: { ms: 4_000, graceMs } },
      { from: 25, most: 1, margin: { ms: 8_000, graceMs } },
    ]);
  });

  it('are none while nothing is held', () => {
    expect(outagesOf([sample(0, 0), { at: 5, counts: { blind: 1 } }])).toEqual([]);
  });
});
