import { allPaused, attentionOf } from './state/attention.ts';
import { worstFirst, needsEyes } from './state/judge-seed.ts';
import type { ProberStatus } from './state/schema.ts';
import type { HeldObjects, SeedObjects, SeedStatus, StatusExitCode } from './seed-status.ts';

export interface SeedFindings {
  readonly at: string;
  /** What we connected to, for a seed whose Clusters do not name it. */
  readonly connectedTo: string;
  readonly objects: SeedObjects;
  readonly answer: ProberStatus | undefined;
  /** Undefined if a prober has responded, or objects could not be read. */
  readonly held: HeldObjects | undefined;
  readonly problems: readonly string[];
  /** True if this is no seed, as far as the API server shows. */
  readonly isNoSeed?: boolean;
}

/** True if nobody leads, as far as the Lease shows: then nothing is probed. */
const isLeaderless = ({ lease }: Pick<SeedStatus, 'lease'>): boolean =>
  lease !== undefined && (!lease.isFresh || lease.holder === '');

const exitCodeOf = (status: Omit<SeedStatus, 'exitCode'>, held: HeldObjects | undefined): StatusExitCode => {
  if (status.attention.length > 0 || status.shoots.some(needsEyes)) return 1;
  if (status.source === 'leader') return 0;
  if (status.source === 'no-seed') return 2;
  // 1 without a leader, which needs attention. 2 with a leader that does not respond: the state is not known.
  return held?.problems.length === 0 && isLeaderless(status) ? 1 : 2;
};

/** Creates the status from all findings: sorts the shoots, lists what needs attention and computes the exit code. */
export const judgeSeed = (findings: SeedFindings): SeedStatus => {
  const { at, connectedTo, objects, answer, held, problems, isNoSeed = false } = findings;
  const { lease, replicas } = objects;
  const shoots = worstFirst(answer?.shoots ?? held?.shoots ?? []);
  const known = {
    at,
    seed: answer?.seed ?? connectedTo,
    lease,
    replicas,
    shoots,
    problems: [...objects.problems, ...problems, ...(held?.problems ?? [])],
    total: answer?.shoots.length ?? held?.total ?? 0,
  };
  if (answer === undefined) {
    const attention = (held?.paused ?? null) === null ? [] : [allPaused];
    const source = isNoSeed ? 'no-seed' : held === undefined ? 'none' : 'objects';
    const status = { ...known, source, prober: undefined, attention } as const;
    return { ...status, exitCode: exitCodeOf(status, held) };
  }
  const { shoots: _, ...prober } = answer;
  const source = answer.leads ? 'leader' : 'standby';
  const status = { ...known, source, prober, attention: attentionOf(answer) } as const;
  return { ...status, exitCode: exitCodeOf(status, held) };
};
