import type { ProbeMemory } from '../judge/probe-memory.ts';
import { type ClockReading, timeAt } from './clock-reading.ts';
import type { LeaseEvidence } from '../../status/state/schema.ts';

interface Evidence {
  readonly memory: ProbeMemory;
  /** Reasons why leases do not count, by name. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Returns every lease of the latest list, with its age as of that list, and the nodes that had none. */
export const leaseEvidence = ({ memory, leftOut }: Evidence, reading: ClockReading): readonly LeaseEvidence[] => {
  const { listedAt = reading.monotonic } = memory;
  const known = new Set(memory.leases.map(({ name }) => name));
  const listed = memory.leases.map(({ name, silentSince, expiresAt, renewTime }): LeaseEvidence => {
    const why = leftOut.get(name);
    return {
      name,
      renewedAt: renewTime === undefined ? undefined : timeAt(silentSince, reading),
      ageMs: renewTime === undefined ? undefined : Math.max(0, Math.round(listedAt - silentSince)),
      expired: listedAt >= expiresAt,
      counted: why === undefined,
      leftOut: why,
    };
  });
  const without = Array.from(leftOut, ([name, why]) => ({ name, expired: false, counted: false, leftOut: why }));
  return [...listed, ...without.filter(({ name }) => !known.has(name))];
};
