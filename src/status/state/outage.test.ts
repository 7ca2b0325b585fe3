import { expect, it } from 'vitest';
import { stepsOfOutage } from './outage.ts';
import type { RecordedDecision } from './schema.ts';
import { factsIn, toldOf } from './testing/facts.ts';

const decision = (second: number, verdict: string): RecordedDecision => {
  const at = `2026-01-01T11:59:0${String(second)}Z`;
  return { at, lastAt: at, runs: 1, verdict, reason: verdict };
};

it('the steps of the present outage begin after the last calm, and a verdict that an act interrupts is one step', () => {
  const words = ['unhealthy', 'scaled up', 'healthy', 'confirming', 'unhealthy', 'scaled down', 'unhealthy', 'landing'];
  const decisions = words.map((word, second) => decision(second, word));
  const shoot = { ...toldOf(factsIn('one', 'landing', 'held')), decisions };
  expect(stepsOfOutage(shoot).map(({ what }) => what)).toEqual(['suspected', 'confirmed', 'scaled down', 'landing']);
  expect(stepsOfOutage(shoot).at(-1)).toMatchObject({ what: 'landing', detail: '' });
  expect(stepsOfOutage({ ...toldOf(factsIn('one')), decisions })).toEqual([]);
});
