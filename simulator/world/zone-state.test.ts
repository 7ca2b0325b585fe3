import { expect, it } from 'vitest';
import { evictionIntervalMs, zoneStateOf } from './zone-state.ts';

it.each([
  { ready: 0, notReady: 0, state: 'normal' },
  { ready: 0, notReady: 1, state: 'full-disruption' },
  { ready: 1, notReady: 2, state: 'normal' },
  { ready: 2, notReady: 3, state: 'partial-disruption' },
  { ready: 9, notReady: 10, state: 'normal' },
  { ready: 9, notReady: 11, state: 'partial-disruption' },
  { ready: 1, notReady: 50, state: 'partial-disruption' },
] as const)('$ready ready and $notReady not: $state', ({ state, ...counts }) => {
  expect(zoneStateOf(counts)).toBe(state);
});

it.each([
  { state: 'normal', nodes: 3, ms: 10_000 },
  { state: 'partial-disruption', nodes: 50, ms: Number.POSITIVE_INFINITY },
  { state: 'partial-disruption', nodes: 51, ms: 100_000 },
  { state: 'full-disruption', nodes: 100, ms: Number.POSITIVE_INFINITY },
] as const)('$state of $nodes nodes: one eviction in $ms ms', ({ state, nodes, ms }) => {
  expect(evictionIntervalMs(state, nodes, 10_000)).toBe(ms);
});
