import { renewalsOf } from '../judge/lease-history.ts';
import type { ProbeSettings } from '../judge/probe-input.ts';
import type { ProbeMemory } from '../judge/probe-memory.ts';
import type { LeaseCounts } from '../judge/verdict.ts';
import type { LeaseEvidence } from './schema.ts';
import { type ClockReading, timeAt } from './clock-reading.ts';

interface Evidence {
  readonly memory: ProbeMemory;
  readonly settings: ProbeSettings;
  /** Reasons why leases do not count, by name. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Counts candidates and expired ones as of the latest list of leases. All leases count except those that are known to be left out. */
export const countLeases = ({ memory, settings, leftOut }: Evidence): LeaseCounts => {
  const { history } = memory;
  const observedAt = history.lastObservedAt ?? Number.NEGATIVE_INFINITY;
  let [candidates, expired] = [0, 0];
  for (const [place, renewedAt] of renewalsOf(history).entries()) {
    if (leftOut.size > 0 && leftOut.has(history.names[place] ?? '')) continue;
    candidates += 1;
    if (observedAt >= renewedAt + settings.expiryAgeMs) expired += 1;
  }
  return { candidates, expired };
};

/** Returns every lease of the latest list with its age now, and the nodes that had none. */
export const leaseEvidence = (
  { memory, settings, leftOut }: Evidence,
  reading: ClockReading,
): readonly LeaseEvidence[] => [
  ...renewalsOf(memory.history).map((renewedAt, place) => {
    const name = memory.history.names[place] ?? '';
    const why = leftOut.get(name);
    const ageMs = Math.max(0, Math.round(reading.monotonic - renewedAt));
    return {
      name,
      ...(Number.isFinite(renewedAt) ? { renewedAt: timeAt(renewedAt, reading), ageMs } : {}),
      expired: reading.monotonic - renewedAt >= settings.expiryAgeMs,
      counted: why === undefined,
      ...(why === undefined ? {} : { leftOut: why }),
    };
  }),
  ...withoutLease(memory, leftOut),
];

const withoutLease = ({ history }: ProbeMemory, leftOut: ReadonlyMap<string, string>): readonly LeaseEvidence[] => {
  const known = new Set(history.names);
  return Array.from(leftOut, ([name, why]) => ({ name, expired: false, counted: false, leftOut: why })).filter(
    ({ name }) => !known.has(name),
  );
};
