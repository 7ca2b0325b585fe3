import type { ProbeMemory } from '../judge/probe-memory.ts';
import { countExpired } from '../judge/rules.ts';
import type { LeaseCounts } from '../judge/verdict.ts';
import { type ClockReading, timeAt } from './clock-reading.ts';
import type { LeaseEvidence } from './schema.ts';

interface Evidence {
  readonly memory: ProbeMemory;
  /** Reasons why leases do not count, by name. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Counts candidates and expired ones as of the latest list of leases. All leases count except those that are known to be left out. */
export const countLeases = ({ memory, leftOut }: Evidence): LeaseCounts => {
  const counted = memory.leases.filter(({ name }) => !leftOut.has(name));
  return { candidates: counted.length, expired: countExpired(counted, memory.listedAt ?? Number.NEGATIVE_INFINITY) };
};

/** Returns every lease of the latest list with its age now, and the nodes that had none. */
export const leaseEvidence = ({ memory, leftOut }: Evidence, reading: ClockReading): readonly LeaseEvidence[] => {
  const known = new Set(memory.leases.map(({ name }) => name));
  const listed = memory.leases.map(({ name, silentSince, expiresAt, renewTime }): LeaseEvidence => {
    const why = leftOut.get(name);
    return {
      name,
      renewedAt: renewTime === undefined ? undefined : timeAt(silentSince, reading),
      ageMs: renewTime === undefined ? undefined : Math.max(0, Math.round(reading.monotonic - silentSince)),
      expired: reading.monotonic >= expiresAt,
      counted: why === undefined,
      leftOut: why,
    };
  });
  const without = Array.from(leftOut, ([name, why]) => ({ name, expired: false, counted: false, leftOut: why }));
  return [...listed, ...without.filter(({ name }) => !known.has(name))];
};
