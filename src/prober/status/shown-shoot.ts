import { countExpired } from '../judge/rules.ts';
import type { LeaseCounts } from '../judge/verdict.ts';
import type { ShootFacts, ShootName } from '../report/state.ts';
import { formatWall, timeAt } from './clock-reading.ts';
import { nextStep } from './next-step.ts';
import { scalingProgress } from './scaling-progress.ts';
import type { LeaseEvidence, ProbedShoot } from './schema.ts';

/** Returns a shoot as the list of all shoots shows it. */
export const shownShoot = (facts: ShootFacts, shootName: ShootName | undefined): ProbedShoot => {
  const { cluster, reading, settings, held, ignored, pause, isUnmet, nodes, marginMs, lastRunEndedAt } = facts;
  const { text, at } = nextStep(facts);
  const { project, name = cluster } = shootName ?? {};
  return {
    namespace: cluster,
    project,
    name,
    state: facts.protection,
    since: formatWall(facts.since),
    reason: facts.reason,
    next: { text, at: at === undefined ? undefined : timeAt(at, reading) },
    ...(facts.counts ?? countLeases(facts)),
    nodes,
    leftOut: nodes === undefined ? undefined : facts.leftOut.size,
    leaseExpiryMs: settings.expiryAgeMs,
    graceMs: settings.graceMs,
    lastRunEndedAt: lastRunEndedAt === undefined ? undefined : formatWall(lastRunEndedAt),
    flapping: facts.isFlapping,
    paused: pause ?? null,
    marginMs: marginMs && Math.round(marginMs),
    held,
    unmet: isUnmet || undefined,
    ignored: ignored.length === 0 ? undefined : ignored,
  };
};

/** Returns a shoot with the evidence for its latest verdict. */
export const shownInFull = (facts: ShootFacts, name: ShootName | undefined): ProbedShoot => ({
  ...shownShoot(facts, name),
  threshold: facts.settings.nodeLeaseFailureFraction,
  leases: leaseEvidence(facts),
  scaling: facts.state.scaling === undefined ? null : scalingProgress(facts.state.scaling, facts.reading),
  decisions: facts.decisions.map(({ at, lastAt, counts, ...decision }) => ({
    at: formatWall(at),
    lastAt: formatWall(lastAt),
    ...decision,
    ...counts,
  })),
});

/** Counts candidates and expired ones as of the latest list of leases. All leases count except those that are known to be left out. */
const countLeases = ({ state: { probe }, leftOut }: ShootFacts): LeaseCounts => {
  const counted = probe.leases.filter(({ name }) => !leftOut.has(name));
  return { candidates: counted.length, expired: countExpired(counted, probe.listedAt ?? Number.NEGATIVE_INFINITY) };
};

/** Returns every lease of the latest list with its age now, and the nodes that had none. */
const leaseEvidence = ({ state: { probe }, leftOut, reading }: ShootFacts): readonly LeaseEvidence[] => {
  const known = new Set(probe.leases.map(({ name }) => name));
  const listed = probe.leases.map(({ name, silentSince, expiresAt, renewTime }): LeaseEvidence => {
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
