import { ApiError } from '../../kubernetes/api/errors.ts';
import type { ProbeSettings, ProbeMemory, ReadError, Verdict } from '../judge/judgement.ts';
import { expiryAgeOf, silentAgeOf } from '../judge/leases.ts';
import { countExpired, neededOf, outageFrom } from '../judge/rules.ts';
import type { FailingRuns, ShootFacts, LeaseEvidence, ScalingProgress } from '../../status/state/schema.ts';
import type { ProbeResult } from '../observe/probe.ts';
import type { Scaling } from '../scale/scaling.ts';
import { type Operation, isOver } from '../scale/operation.ts';

/** Reading of both clocks at one moment, in milliseconds. */
export interface ClockReading {
  readonly monotonic: number;
  /** Since the epoch. */
  readonly wall: number;
}

/** Formats milliseconds since the epoch as RFC 3339. */
export const formatWall = (wall: number): string => new Date(Math.round(wall)).toISOString();

/** Formats a monotonic instant as RFC 3339. */
export const timeAt = (instant: number, { monotonic, wall }: ClockReading): string =>
  formatWall(wall + instant - monotonic);

/** Counts the nodes of each reason, the most frequent reason first. */
export const byReason = (leftOut: ReadonlyMap<string, string>): ShootFacts['leftOutReasons'] =>
  [...Map.groupBy(leftOut.values(), (reason) => reason)]
    .map(([reason, those]) => ({ reason, nodes: those.length }))
    .toSorted((a, b) => b.nodes - a.nodes);

/** Returns what the latest list of the leases shows. Counts are as of the latest list of the nodes: one that has come or gone since is no node that does not count. */
const lookOf = (memory: ProbeMemory, settings: ProbeSettings, reading: ClockReading) => {
  const { leases, listedAt, candidates } = memory;
  if (listedAt === undefined) return { candidates: 0, expired: 0 };
  const { names, leftOut, nodes } = candidates ?? {};
  const counted = names === undefined ? leases : leases.filter(({ name }) => names.has(name));
  const expired = countExpired(counted, listedAt);
  const inOutage = listedAt >= outageFrom(counted, settings);
  const isAllSilent = inOutage && expired < neededOf(counted.length, settings);
  const silentSince = Math.max(...counted.map((lease) => lease.silentSince));
  // Only while it makes a difference: later the lease has been renewed, or has expired.
  const excused = counted.find(
    (lease) =>
      listedAt >= lease.renewedAt + expiryAgeOf(lease, settings) &&
      listedAt < lease.silentSince + expiryAgeOf(lease, settings),
  );
  // If nobody renewed from now on, an outage would show at this age.
  const fresh = counted.map((lease) => ({
    expiresAt: expiryAgeOf(lease, settings),
    silentAt: silentAgeOf(lease, settings),
  }));
  const actsAfterMs = outageFrom(fresh, settings);
  return {
    lookedAt: timeAt(listedAt, reading),
    candidates: names === undefined ? leases.length : [...names].filter((name) => !leftOut?.has(name)).length,
    expired,
    inOutage,
    silentForMs: isAllSilent ? Math.max(0, Math.round(listedAt - silentSince)) : undefined,
    excusedUntil: excused && timeAt(excused.silentSince, reading),
    actsAfterMs: Number.isFinite(actsAfterMs) ? actsAfterMs : undefined,
    nodes,
    leftOut: leftOut?.size,
    leftOutReasons: leftOut && byReason(leftOut),
  };
};

const readOf = (verdict: Extract<Verdict, { kind: 'failed' }>): FailingRuns['read'] => {
  if (verdict.failure === 'node_list_failed') return 'nodes';
  return verdict.failure === 'machine_list_failed' ? 'machines' : 'leases';
};

const kindOf = (error: ReadError): FailingRuns['kind'] => {
  if (!(error instanceof ApiError) || error.code === 'Unauthorized') return 'credentials';
  if (error.code === 'Forbidden') return 'rights';
  return error.code === 'ConnectionError' || error.code === 'Timeout' ? 'connection' : 'answer';
};

const longestReason = 300;

/** Says what an API server answered, or why it did not, without the request. */
export const answerInWords = ({ status, message }: Pick<ApiError, 'status' | 'message'>): string => {
  const text = message.replace(/^(?:GET|PATCH|PUT|POST) \S+: /, '');
  return status === undefined || text.includes(String(status)) ? text : `${String(status)} ${text}`;
};

const reasonOf = (error: ReadError): string =>
  error instanceof ApiError ? answerInWords(error) : `${error.field}: ${error.problem}`;

const landingOf = (verdict: Verdict, reading: ClockReading): ShootFacts['landing'] => {
  if (verdict.kind !== 'landing') return undefined;
  const { renewed, awaited, late, earliest, latest } = verdict;
  return {
    ...{ renewed, awaited, late },
    earliest: earliest === undefined ? undefined : timeAt(earliest, reading),
    latest: timeAt(latest, reading),
  };
};

/** What the runs until now show of a shoot, as of their times. */
export type RunFacts = Pick<ShootFacts, 'candidates' | 'expired' | 'reason'> & Partial<ShootFacts>;

interface EndedRun extends ProbeResult {
  readonly settings: ProbeSettings;
}

/** Returns what the runs show after another one. One that failed leaves the verdict before it. */
export const factsAfter = (before: RunFacts, run: EndedRun, reading: ClockReading): RunFacts => {
  const { decision, durationMs, settings } = run;
  const { verdict, reason, memory } = decision;
  const seen = { ...lookOf(memory, settings, reading), lastRunEndedAt: formatWall(reading.wall) };
  if (verdict.kind !== 'failed') {
    return { ...seen, verdict: verdict.kind, reason, landing: landingOf(verdict, reading) };
  }
  const { since = formatWall(reading.wall - durationMs), runs = 0 } = before.failing ?? {};
  const failing = {
    since,
    runs: runs + 1,
    read: readOf(verdict),
    reason: reasonOf(verdict.error).slice(0, longestReason),
    kind: kindOf(verdict.error),
  };
  return { ...before, ...seen, failing };
};

/** Returns every lease of the latest list, with its age as of that list, and the nodes that had none. */
export const leaseEvidence = (memory: ProbeMemory, reading: ClockReading): readonly LeaseEvidence[] => {
  const { leases, listedAt = reading.monotonic, candidates } = memory;
  const leftOut: ReadonlyMap<string, string> = candidates?.leftOut ?? new Map();
  const known = new Set(leases.map(({ name }) => name));
  const listed = leases.map(({ name, renewedAt, expiresAt, renewTime }): LeaseEvidence => {
    const why = leftOut.get(name);
    return {
      name,
      renewedAt: renewTime === undefined ? undefined : timeAt(renewedAt, reading),
      ageMs: renewTime === undefined ? undefined : Math.max(0, Math.round(listedAt - renewedAt)),
      expired: listedAt >= expiresAt,
      counted: why === undefined,
      leftOut: why,
    };
  });
  const without = Array.from(leftOut, ([name, why]) => ({ name, expired: false, counted: false, leftOut: why }));
  return [...listed, ...without.filter(({ name }) => !known.has(name))];
};

type Step = ScalingProgress['steps'][number];

/** Maximum length of an error message, in UTF-16 code units. */
const longestDetail = 300;

const stateOf = ({ phase, attempts }: Operation): Pick<Step, 'state' | 'detail'> => {
  switch (phase.kind) {
    case 'idle':
    case 'deciding':
      return { state: 'pending' };
    case 'awaiting-verdict':
      return { state: 'waiting', detail: 'for a fresh verdict' };
    case 'reading':
    case 'writing':
      return { state: phase.kind };
    case 'waiting':
      return attempts > 0
        ? { state: 'retrying', detail: `${String(attempts)} failed attempts` }
        : { state: 'delayed', detail: 'by its initialDelay' };
    case 'settling':
      return { state: 'waiting', detail: 'for its pods to follow' };
    case 'done':
      return { state: 'done', detail: phase.outcome };
    case 'failed':
      return { state: 'failed', detail: phase.error.message.slice(0, longestDetail) };
  }
};

const awaitedIn = ({ operations }: Scaling): Operation | undefined =>
  operations.find(
    ({ phase }) => phase.kind === 'settling' || phase.kind === 'waiting' || phase.kind === 'awaiting-verdict',
  );

/** Says what a resource does until it is its turn. */
const waitOf = (operation: Operation): string => {
  const { state, detail = '' } = stateOf(operation);
  if (state === 'delayed') return 'follows after its initialDelay';
  return state === 'retrying' ? `is tried again (${detail})` : `waits ${detail}`;
};

/** Returns how far a scaling is, and what it waits for; undefined without one. */
export const progressOf = (scaling: Scaling | undefined, reading: ClockReading): ShootFacts['progress'] => {
  if (scaling === undefined) return undefined;
  const { direction, operations } = scaling;
  const next = awaitedIn(scaling);
  const until = next?.phase.kind === 'waiting' ? next.phase.until : undefined;
  return {
    direction,
    done: operations.filter(isOver).length,
    total: operations.length,
    awaited: next && {
      name: next.resource.ref.name,
      why: waitOf(next),
      until: until === undefined ? undefined : timeAt(until, reading),
    },
  };
};

/** Returns what a scaling has done, and what it waits for. */
export const scalingProgress = (scaling: Scaling, reading: ClockReading): ScalingProgress => ({
  direction: scaling.direction,
  reason: scaling.reason,
  startedAt: timeAt(scaling.startedAt, reading),
  withoutLead: scaling.withoutLead,
  steps: scaling.operations.map((operation) => {
    const { kind, name } = operation.resource.ref;
    return { kind, name, level: operation.info.level, ...stateOf(operation) };
  }),
});
