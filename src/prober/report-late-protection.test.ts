import { beforeEach, expect, it } from 'vitest';
import { type FakeClock, createFakeClock } from '../../test/doubles/fake-clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { createRecordingMeter } from '../../test/doubles/recording-meter.ts';
import type { Verdict } from './judge/verdict.ts';
import { createProberMetrics } from './metrics.ts';
import { LateProtectionReporter } from './report-late-protection.ts';
import { upVerdict } from './testing/cases.ts';

let clock: FakeClock;
/** Seconds of each line of the log. */
let late: () => readonly unknown[];
let lastAt: () => number | undefined;
let protection: LateProtectionReporter;
let isUnprotected: boolean;
beforeEach(() => {
  clock = createFakeClock();
  const logger = createRecordingLogger();
  const meter = createRecordingMeter();
  late = () => logger.lines.map(({ level, fields: { namespace, seconds } }) => [level, namespace, seconds].join(' '));
  lastAt = () => meter.value('dwd_prober_late_protection_timestamp_seconds', { namespace: 'a' });
  isUnprotected = true;
  protection = new LateProtectionReporter({ clock, logger, metrics: createProberMetrics(meter) });
});

const judge = (verdict: Verdict, restsOnSeenRenewals = true): void =>
  protection.judged('a', {
    decision: { verdict, ...(restsOnSeenRenewals ? { restsOnSeenRenewals } : {}) },
    isUnprotected: () => isUnprotected,
  });
const crossed = (agoMs: number): Verdict => ({ kind: 'unhealthy', crossedAt: clock.monotonic() - agoMs });

it('tells once that nothing is scaled down five seconds after the threshold', async () => {
  judge(crossed(300));
  await clock.advance(4_699);
  expect(late()).toEqual([]);
  await clock.advance(1);
  expect(late()).toEqual(['error a 5']);
  expect(lastAt()).toBe(clock.now() / 1_000);
  judge(crossed(15_000));
  await clock.advance(60_000);
  expect(late()).toHaveLength(1);
});

it('says nothing where something is scaled down in time, whoever did it', async () => {
  judge(crossed(0));
  isUnprotected = false;
  await clock.advance(5_000);
  expect(late()).toEqual([]);
  expect(lastAt()).toBeUndefined();
});

it('tells at once of a verdict that comes too late', async () => {
  judge(crossed(7_000));
  await clock.advance(0);
  expect(late()).toEqual(['error a 7']);
});

it('gives an outage that it has not watched its time from the verdict on', async () => {
  judge(crossed(300_000), false);
  await clock.advance(4_999);
  expect(late()).toEqual([]);
  await clock.advance(1);
  expect(late()).toEqual(['error a 5']);
});

it('goes by the same outage through failed runs, and by a new one after another verdict', async () => {
  judge(crossed(0));
  judge({ kind: 'failed', failure: 'lease_list_failed', error: new Error('x') as never });
  await clock.advance(5_000);
  expect(late()).toHaveLength(1);
  judge(upVerdict);
  judge(crossed(0));
  await clock.advance(5_000);
  expect(late()).toHaveLength(2);
});

it.each<{ readonly what: string; readonly end: () => void }>([
  { what: 'the outage is over', end: () => judge(upVerdict) },
  { what: 'the shoot is gone', end: () => protection.forget('a') },
  { what: 'the program ends', end: () => protection.stop() },
])('says nothing when $what before', async ({ end }) => {
  judge(crossed(0));
  end();
  await clock.advance(60_000);
  expect(late()).toEqual([]);
  expect(clock.pending).toBe(0);
});
