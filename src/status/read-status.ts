import { KubeconfigError } from '../kubernetes/api/errors.ts';
import { podOfHolder } from '../kubernetes/api/lease.ts';
import {
  type OperatorAccess,
  type OperatorCluster,
  onOperatorCluster,
  systemClock,
  userAgentOf,
} from '../process/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { ProberStatus } from '../prober/status/index.ts';
import { type ReadProberStatus, readStatusOfPod, readStatusFromUrl } from './ask-prober.ts';
import { findWanted, namespaceOf } from './find-shoot.ts';
import { type SeedFindings, judgeSeed } from './judge.ts';
import { defaultConfiguration, installedConfiguration } from './installed-settings.ts';
import { readHeld } from './read-held.ts';
import { type ObjectsDeps, orProblem, readSeedObjects } from './read-objects.ts';
import type { HeldObjects, Replica, SeedObjects, SeedStatus } from './seed-status.ts';

/** Request for the status: its prober and its shoots. */
export interface LeaderQuery {
  /** Namespace of the prober. */
  readonly namespace: string;
  /** Label selector of its pods. */
  readonly selector: string;
  /** Namespace of a control plane, or PROJECT/NAME. Absent for all shoots. */
  readonly shoot?: string | undefined;
  /** Address of a prober, used in place of the pod proxy. */
  readonly leaderUrl?: URL | undefined;
  /** Timeout of requests to the prober, in milliseconds. */
  readonly leaderTimeoutMs: number;
  /** Timeout of all other requests, in milliseconds. */
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

export type StatusRun = OperatorAccess & LeaderQuery;

const nothing: SeedObjects = { lease: undefined, replicas: undefined, problems: [] };

/** Returns the pod that holds the Lease, else all ready pods. */
const leaderAmong = ({ lease, replicas = [] }: SeedObjects): readonly Replica[] => {
  const pod = podOfHolder(lease?.holder ?? '');
  const named = replicas.filter((replica) => replica.pod === pod);
  return named.length > 0 ? named : replicas.filter(({ isReady }) => isReady);
};

interface LeaderLookup {
  readonly prober: ReadProberStatus | undefined;
  /** Problem to report if there is no prober. */
  readonly missing: string;
}

/** Requests the status. For a requested shoot it has the details that only `?shoot=` returns. Rejects with an ApiError. */
const ask = async (prober: ReadProberStatus, run: LeaderQuery, clock: Clock): Promise<ProberStatus> => {
  const { shoot, leaderTimeoutMs, stop: signal } = run;
  const until = clock.monotonic() + leaderTimeoutMs;
  const namespace = shoot === undefined ? undefined : namespaceOf(shoot);
  const first = await prober(namespace, { signal, timeoutMs: leaderTimeoutMs });
  if (shoot === undefined || namespace !== undefined) return first;
  const [found] = findWanted(first.shoots, shoot);
  if (found === undefined) return { ...first, shoots: [] };
  return prober(found.namespace, { signal, timeoutMs: Math.max(1, until - clock.monotonic()) });
};

interface Answered {
  /** Response of the prober. Undefined without one. */
  readonly answer: ProberStatus | undefined;
  /** Reason why there is no response, a sentence. */
  readonly problem: string | undefined;
}

const answerOf = async (run: LeaderQuery, clock: Clock, { prober, missing }: LeaderLookup): Promise<Answered> => {
  if (prober === undefined) return { answer: undefined, problem: missing };
  const asked = await orProblem('the prober', ask(prober, run, clock));
  return { answer: asked.value, problem: asked.problem };
};

/** Time to wait for the prober alone, in milliseconds. Then objects are read in parallel, so that a prober that hangs costs no extra time. */
const headStartMs = 500;

/** Returns the result of `read`, or undefined if the prober responds. Rejects as `read` does. */
const unlessAnswered = async <T>(
  answering: Promise<Answered>,
  read: (signal: AbortSignal) => Promise<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T | undefined> => {
  const answered = new AbortController();
  const until = AbortSignal.any([signal, answered.signal]);
  const reading = Promise.race([answering, clock.sleep(headStartMs, until)]).then((first) =>
    first?.answer === undefined ? read(until) : undefined,
  );
  // Once the prober has responded, nobody handles a rejection of this promise.
  reading.catch(() => undefined);
  const { answer } = await answering;
  if (answer === undefined) return reading;
  answered.abort(new Error('the prober has answered'));
  return undefined;
};

/** Reads held resources by the installed configuration, as `dwd release` does. Uses Gardener's defaults if that cannot be read. */
const readHeldHere = async (deps: ObjectsDeps, wall: () => number): Promise<HeldObjects> => {
  const installed = await orProblem('the configuration of the prober', installedConfiguration(deps.namespace, deps));
  const { settings } = installed.value ?? defaultConfiguration();
  const held = await readHeld({ ...deps, wall, settings });
  return installed.problem === undefined ? held : { ...held, problems: [installed.problem, ...held.problems] };
};

/** Finds the leader by the objects of the seed, and starts to request its status. */
const beginToAsk = async (run: LeaderQuery, cluster: Omit<OperatorCluster, 'kube'>) => {
  const { client, clock } = cluster;
  const { namespace, selector, leaderUrl, timeoutMs, stop: signal } = run;
  const deps = { client, namespace, options: { signal, timeoutMs } };
  const objects = await readSeedObjects({ ...deps, selector, wall: () => clock.now() });
  const [leader] = leaderAmong(objects);
  const answering = answerOf(run, clock, {
    prober:
      leaderUrl === undefined
        ? leader && readStatusOfPod(client, namespace, leader)
        : readStatusFromUrl(leaderUrl, cluster),
    missing: 'no ready pod of the prober was found',
  });
  return { objects, answering };
};

export interface LeaderAnswer extends Answered {
  readonly objects: SeedObjects;
}

/** Requests the status of the leader. Never rejects with an ApiError: a failed read is a problem in the result. */
export const askLeader = async (run: LeaderQuery, cluster: Omit<OperatorCluster, 'kube'>): Promise<LeaderAnswer> => {
  const { objects, answering } = await beginToAsk(run, cluster);
  return { objects, ...(await answering) };
};

/** Same as `readStatus`, for a connected cluster. */
export const readSeedStatus = async (run: StatusRun, cluster: OperatorCluster): Promise<SeedStatus> => {
  const { client, clock } = cluster;
  const { namespace, stop, timeoutMs } = run;
  const wall = (): number => clock.now();
  const { objects, answering } = await beginToAsk(run, cluster);
  const read = (signal: AbortSignal) =>
    orProblem('the held resources', readHeldHere({ client, namespace, options: { signal, timeoutMs } }, wall));
  const held = (await unlessAnswered(answering, read, { clock, signal: stop })) ?? {};
  const answered = await answering;
  const problems = [answered.problem, held.problem].filter((problem) => problem !== undefined);
  return judged(run, { at: new Date(wall()).toISOString(), objects, ...answered, held: held.value, problems });
};

const judged = ({ shoot }: StatusRun, findings: SeedFindings): SeedStatus => {
  if (shoot === undefined || findings.held === undefined) return judgeSeed({ ...findings, wanted: shoot });
  const shoots = findWanted(findings.held.shoots, shoot);
  return judgeSeed({ ...findings, held: { ...findings.held, shoots, total: Math.max(shoots.length, 1) } });
};

/** Reads the status from `--leader-url` alone, without access to the seed. */
const readByUrl = async (run: StatusRun, problem: string): Promise<SeedStatus> => {
  const clock = systemClock();
  const { leaderUrl } = run;
  const prober = leaderUrl && readStatusFromUrl(leaderUrl, { clock, userAgent: userAgentOf(run) });
  const answered = await answerOf(run, clock, {
    prober,
    missing: 'without a kubeconfig, the status can only be read from --leader-url',
  });
  const problems = [problem, ...(answered.problem === undefined ? [] : [answered.problem])];
  return judgeSeed({
    at: new Date(clock.now()).toISOString(),
    objects: nothing,
    held: undefined,
    ...answered,
    problems,
    wanted: run.shoot,
  });
};

/** Reads a seed's status, and writes nothing. Failed reads are in its `problems`. */
export const readStatus = async (run: StatusRun): Promise<SeedStatus> => {
  try {
    return await onOperatorCluster(run, (cluster) => readSeedStatus(run, cluster));
  } catch (error) {
    if (error instanceof KubeconfigError) return readByUrl(run, error.message);
    throw error;
  }
};
