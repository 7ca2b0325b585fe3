import { ApiError } from '../../kubernetes/api/errors.ts';
import type { Decision } from '../judge/decision.ts';
import { expiryAgeOf } from '../judge/leases.ts';
import type { ProbeSettings } from '../judge/probe-input.ts';
import type { ProbeMemory } from '../judge/probe-memory.ts';
import { countExpired, neededOf, outageFrom } from '../judge/rules.ts';
import type { ReadError, Verdict } from '../judge/verdict.ts';
import type { FailingRuns, ShootFacts } from '../../status/state/schema.ts';
import { type ClockReading, formatWall, timeAt } from './clock-reading.ts';

/** What the last list of the leases shows, as of its time. `listedAt` is the same time in monotonic milliseconds. */
export type LastLook = { readonly listedAt?: number } & Pick<
  ShootFacts,
  'lookedAt' | 'candidates' | 'expired' | 'silentForMs' | 'actsAfterMs' | 'nodes' | 'leftOut' | 'leftOutReasons'
>;

export const notLookedYet: LastLook = { candidates: 0, expired: 0 };

const byReason = (leftOut: ReadonlyMap<string, string>): ShootFacts['leftOutReasons'] =>
  [...Map.groupBy(leftOut.values(), (reason) => reason)]
    .map(([reason, those]) => ({ reason, nodes: those.length }))
    .toSorted((a, b) => b.nodes - a.nodes);

interface Looked {
  readonly decision: Decision;
  readonly settings: ProbeSettings;
  /** The look before. */
  readonly before: LastLook;
}

const countedIn = ({ leases, candidates }: ProbeMemory): ProbeMemory['leases'] =>
  candidates === undefined ? leases : leases.filter(({ name }) => candidates.names.has(name));

/** Returns the look after a run. A run that got no list of the leases leaves it as it is. */
export const lookAfter = ({ decision, settings, before }: Looked, reading: ClockReading): LastLook => {
  const { memory, verdict, leftOut, nodes } = decision;
  const { listedAt } = memory;
  if (listedAt === undefined) return before;
  if (verdict.kind === 'failed' && listedAt === before.listedAt) return before;
  const counted = countedIn(memory);
  const expired = countExpired(counted, listedAt);
  const isSuspected = verdict.kind === 'unhealthy' || verdict.kind === 'confirming';
  const isAllSilent = isSuspected && expired < neededOf(counted.length, settings);
  const silentSince = Math.max(...counted.map((lease) => lease.silentSince));
  // If nobody renewed from now on, an outage would show at this age.
  const fresh = counted.map((lease) => ({
    ...lease,
    silentSince: 0,
    trustedFrom: 0,
    expiresAt: expiryAgeOf(lease, settings),
  }));
  const actsAfterMs = outageFrom(fresh, settings).at;
  return {
    listedAt,
    lookedAt: timeAt(listedAt, reading),
    candidates: counted.length,
    expired,
    silentForMs: isAllSilent ? Math.max(0, Math.round(listedAt - silentSince)) : undefined,
    actsAfterMs: Number.isFinite(actsAfterMs) ? actsAfterMs : undefined,
    nodes: nodes ?? before.nodes,
    leftOut: leftOut?.size ?? before.leftOut,
    leftOutReasons: leftOut === undefined ? before.leftOutReasons : byReason(leftOut),
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

/** Returns the failed runs in a row after another one; undefined if it has not failed. */
export const failingAfter = (
  before: FailingRuns | undefined,
  { verdict, durationMs }: Pick<Decision, 'verdict'> & { readonly durationMs: number },
  { wall }: ClockReading,
): FailingRuns | undefined =>
  verdict.kind === 'failed'
    ? {
        since: before?.since ?? formatWall(wall - durationMs),
        runs: (before?.runs ?? 0) + 1,
        read: readOf(verdict),
        reason: reasonOf(verdict.error).slice(0, longestReason),
        kind: kindOf(verdict.error),
      }
    : undefined;
