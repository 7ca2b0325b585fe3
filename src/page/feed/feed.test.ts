import { expect, it } from 'vitest';
import { shootNamed, statusWith } from '../../../test/doubles/probed-shoots.ts';
import { sampleOf } from './index.ts';

it('a sample has the number of shoots by state, and the shortest margin of those that are held', () => {
  const shoots = [
    shootNamed('a', 'held', { marginMs: 7_000 }),
    shootNamed('b', 'held', { marginMs: 4_000 }),
    shootNamed('c', 'healthy', { marginMs: 1_000 }),
  ];
  const margin = { ms: 4_000, graceMs: 40_000 };
  expect(sampleOf(statusWith(shoots), 5)).toEqual({ at: 5, counts: { held: 2, healthy: 1 }, margin });
  expect(sampleOf(statusWith([]), 5)).toEqual({ at: 5, counts: {} });
});
