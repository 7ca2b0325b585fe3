import {
  ApiError,
  type ApiErrorCode,
  type JudgedLease,
  type Lease,
  type Look,
  candidateNodes,
  distrustTimestamps,
  forgiveDarkness,
  hasMoved,
  lookAtLeases,
} from '../../domain/index.ts';
import {
  canOnlyBeHealthy,
  countExpired,
  earliestPossibleExpiry,
  reaches,
  share,
  thresholdInstant,
} from './threshold.ts';
import type {
  Circumstances,
  Counts,
  Decision,
  DependentsView,
  FailureKind,
  Need,
  Observation,
  ProbeMemory,
  ReadError,
  Verdict,
} from './verdict.ts';

const confirmAfterMs = 2_000;
const soonestMs = 1_000;
const throttledBackOffMs = 10_000;
/** Whoever answers for a shoot's API server must not silence its prober for good. */
const longestBackOffMs = 600_000;
/** KCM loses its own leader lease within this, and starts its timers anew afterwards. */
const darkSpellMs = 15_000;

/**
 * Judges a probe run, or says what it needs to. Pure. The order is the specification's: API server, leases, candidates, verdict; an
 * error in any of them ends the run without scaling.
 */
export const decide = (observation: Observation, circumstances: Circumstances): Decision => {
  const { apiServer, leases, nodes, machines } = observation;
  if (apiServer === undefined) return needs('apiServer');
  if (!apiServer.ok) return unreachable(observation, apiServer.error, circumstances);
  if (leases === undefined) return needs('leases');
  if (!leases.ok) return unreachable(observation, leases.error, circumstances);

  const { settings } = circumstances;
  const looked = takeLook(leases.value, circumstances);
  if (canOnlyBeHealthy(looked.judged, observation.dependents, settings)) {
    return scaleUp(circumstances, {
      memory: looked.memory,
      reason: `${share(looked.judged)} leases expired: no set of nodes reaches the threshold`,
      deadline: earliestPossibleExpiry(looked.judged, settings),
    });
  }
  if (nodes === undefined || machines === undefined) {
    const missing = [
      nodes === undefined ? (['nodes'] as const) : [],
      machines === undefined ? (['machines'] as const) : [],
    ];
    // Also while we hold something down: behind five requests a second, a whole seed would not get out of protection.
    const isUrgent = observation.dependents.anyHeld || looked.judged.some(({ expired }) => expired);
    return { kind: 'needs', needs: missing.flat(), ...(isUrgent ? { urgent: true } : {}) };
  }
  // The look is forgotten: leases seen for the first time must still be confirmed by the next one.
  const ended = { ...circumstances, memory: endDarkness(circumstances.memory, leases.value.look) };
  if (!nodes.ok) return failed('lease_list_failed', nodes.error, ended);
  if (!machines.ok) {
    return verdictOf(ended, { verdict: { kind: 'failed', failure: 'lease_list_failed', error: machines.error } });
  }
  const names = candidateNodes(nodes.value, machines.value, settings.poolConditions);
  return judge({
    candidates: looked.judged.filter(({ name }) => names.has(name)),
    dependents: observation.dependents,
    circumstances: { ...circumstances, memory: looked.memory },
  });
};

const needs = (part: Need): Decision => ({ kind: 'needs', needs: [part] });

/** Ends a dark spell at the first list that came through. */
const endDarkness = (memory: ProbeMemory, look: Look): ProbeMemory => {
  const { darkSince, ...rest } = memory;
  if (darkSince === undefined || look.endedAt - darkSince < darkSpellMs) return rest;
  return { ...rest, book: forgiveDarkness(memory.book, look.endedAt) };
};

const takeLook = (
  { items, look }: { readonly items: readonly Lease[]; readonly look: Look },
  { memory, settings }: Circumstances,
): { readonly judged: readonly JudgedLease[]; readonly memory: ProbeMemory } => {
  const { book, unconfirmed } = endDarkness(memory, look);
  const isDisproved = items.some((lease) => unconfirmed.has(lease.name) && hasMoved(book, lease));
  const { limitMs } = settings;
  const looked = lookAtLeases(
    isDisproved ? distrustTimestamps(book, { disproved: unconfirmed, limitMs }) : book,
    items,
    { look, limitMs },
  );
  return { judged: looked.judged, memory: { book: looked.book, unconfirmed: new Set() } };
};

interface Case {
  readonly candidates: readonly JudgedLease[];
  readonly dependents: DependentsView;
  readonly circumstances: Circumstances;
}

const judge = ({ candidates, dependents, circumstances }: Case): Decision => {
  const { settings, memory } = circumstances;
  const counts = { candidates: candidates.length, expired: countExpired(candidates) };
  if (counts.candidates === 0) return scaleUp(circumstances, { memory, counts, reason: 'no candidate nodes' });
  if (counts.candidates === 1) return judgeSingle(counts, dependents, circumstances);
  const reason = `${share(candidates)} node leases expired, threshold ${String(settings.nodeLeaseFailureFraction)}`;
  if (!reaches(counts, settings)) {
    return scaleUp(circumstances, { memory, counts, reason, deadline: thresholdInstant(candidates, settings) });
  }
  const seenBefore = candidates.filter((lease) => lease.expired && !restsOnTimestamp(lease)).length;
  if (reaches({ ...counts, expired: seenBefore }, settings)) {
    const crossed = thresholdInstant(candidates, settings) ?? circumstances.now;
    // Leases that never were renewed crossed it at no instant.
    const crossedAt = Number.isFinite(crossed) ? crossed : circumstances.now;
    return verdictOf(circumstances, { verdict: { kind: 'scale-down', crossedAt }, reason, counts });
  }
  const unconfirmed = candidates.filter((lease) => lease.expired && restsOnTimestamp(lease)).map(({ name }) => name);
  return verdictOf(
    { ...circumstances, memory: { ...memory, unconfirmed: new Set(unconfirmed) } },
    {
      verdict: { kind: 'confirm' },
      reason: `${reason}; by timestamps just seen for the first time, so looking again`,
      counts,
      nextRunAt: circumstances.now + confirmAfterMs,
    },
  );
};

/** Its age is what a clock that may be wrong has written: the first timestamp seen of it, or one that came after a long gap between looks. */
const restsOnTimestamp = ({ firstSeen, moved }: JudgedLease): boolean => firstSeen || moved;

/** One node proves nothing about the path; but a pool that shrank to one while protected must not stay frozen for ever. */
const judgeSingle = (counts: Counts, dependents: DependentsView, circumstances: Circumstances): Decision => {
  const { memory } = circumstances;
  if (dependents.anyHeld && counts.expired === 0) {
    return scaleUp(circumstances, {
      memory,
      counts,
      scope: 'held',
      reason: 'the only candidate node renews its lease',
    });
  }
  const reason = 'a single candidate node proves nothing about the path';
  return verdictOf(circumstances, { verdict: { kind: 'skip' }, reason, counts });
};

const nextTick = ({ now, random, settings }: Circumstances): number =>
  now + settings.probeIntervalMs * (1 + random * settings.backoffJitterFactor);

const scaleUp = (
  circumstances: Circumstances,
  healthy: {
    readonly memory: ProbeMemory;
    readonly reason: string;
    readonly counts?: Counts;
    readonly scope?: 'held';
    /** Instant t* at which the verdict would turn. */
    readonly deadline?: number | undefined;
  },
): Decision => {
  const { memory, reason, counts, scope = 'all', deadline = Number.POSITIVE_INFINITY } = healthy;
  const look = Math.max(deadline, circumstances.now + soonestMs);
  return verdictOf(
    { ...circumstances, memory },
    { verdict: { kind: 'scale-up', scope }, reason, counts, nextRunAt: Math.min(nextTick(circumstances), look) },
  );
};

/** A failed API server probe or lease list. Where the API server's side failed, nobody could renew either: a dark spell begins. */
const unreachable = (
  { startedAt, apiServer }: Observation,
  error: ReadError,
  circumstances: Circumstances,
): Decision => {
  const { memory } = circumstances;
  const isDark = error instanceof ApiError && darkCodes.has(error.code) && !isOurs(error);
  const darkened = isDark && memory.darkSince === undefined ? { ...memory, darkSince: startedAt } : memory;
  const failure = apiServer?.ok === true ? 'lease_list_failed' : 'api_server_unreachable';
  return failed(failure, error, { ...circumstances, memory: darkened });
};

/** Faults of our own side, by Node's code: kubelets, with a way and trust of their own, may well have renewed meanwhile. */
const isOurs = ({ cause }: ApiError): boolean => {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return /^(?:EMFILE|ENFILE|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EPROXY|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(
    code,
  );
};

const darkCodes: ReadonlySet<ApiErrorCode> = new Set([
  'ConnectionError',
  'Timeout',
  'ServerError',
  'MalformedResponse',
]);

const failed = (failure: FailureKind, error: ReadError, circumstances: Circumstances): Decision => {
  if (!(error instanceof ApiError)) {
    return verdictOf(circumstances, { verdict: { kind: 'failed', failure: 'kubeconfig_unusable', error } });
  }
  if (error.code !== 'TooManyRequests') {
    return verdictOf(circumstances, { verdict: { kind: 'failed', failure, error } });
  }
  const asked = Math.min(error.retryAfterMs ?? 0, longestBackOffMs);
  const backOff = circumstances.now + Math.max(throttledBackOffMs, asked);
  return verdictOf(circumstances, {
    verdict: { kind: 'failed', failure: 'throttled', error },
    nextRunAt: Math.max(backOff, nextTick(circumstances)),
  });
};

const verdictOf = (
  circumstances: Circumstances,
  parts: {
    readonly verdict: Verdict;
    readonly reason?: string;
    readonly counts?: Counts | undefined;
    readonly nextRunAt?: number;
  },
): Decision => {
  const { verdict, counts, nextRunAt = nextTick(circumstances) } = parts;
  return {
    kind: 'verdict',
    verdict,
    reason: parts.reason ?? (verdict.kind === 'failed' ? verdict.error.message : verdict.kind),
    nextRunAt,
    memory: circumstances.memory,
    ...(counts === undefined ? {} : { counts }),
  };
};
