import { asList, asMap, getPath, type JsonMap } from '../object.ts';
import { sinceText } from './age.ts';
import type { CellOf } from './column.ts';

// The cells of pods: `printPod` in https://github.com/kubernetes/kubernetes/blob/master/pkg/printers/internalversion/printers.go

const none = '<none>';

interface Termination {
  readonly exitCode?: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly finishedAt?: string;
}

/** `v1.ContainerStatus`, and whether the container is an init container that is to be restarted (a side-car). */
interface Container {
  readonly restarts: number;
  readonly ready: boolean;
  readonly started: boolean;
  readonly sidecar: boolean;
  readonly waiting: string;
  readonly running: boolean;
  readonly terminated: Termination | undefined;
  readonly lastEnd: string | undefined;
}

const mapsIn = (value: unknown): readonly JsonMap[] => asList(value).map(asMap);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const sidecarNames = (pod: Readonly<JsonMap>): ReadonlySet<unknown> =>
  new Set(
    mapsIn(asMap(pod.spec).initContainers)
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  );

const containersIn = (pod: Readonly<JsonMap>, key: string): readonly Container[] => {
  const sidecars = sidecarNames(pod);
  return mapsIn(asMap(pod.status)[key]).map((status) => {
    const { waiting, running, terminated } = asMap(status.state);
    const last = asMap(asMap(status.lastState).terminated);
    return {
      restarts: typeof status.restartCount === 'number' ? status.restartCount : 0,
      ready: status.ready === true,
      started: status.started === true,
      sidecar: sidecars.has(status.name),
      waiting: textOf(asMap(waiting).reason),
      running: running !== undefined && running !== null,
      terminated: terminated === undefined || terminated === null ? undefined : asMap(terminated),
      lastEnd: typeof last.finishedAt === 'string' ? last.finishedAt : undefined,
    };
  });
};

const endReason = ({ reason = '', signal = 0, exitCode = 0 }: Termination): string =>
  reason !== '' ? reason : signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`;

const isTrue = (pod: Readonly<JsonMap>, type: string): boolean =>
  mapsIn(asMap(pod.status).conditions).find((condition) => condition.type === type)?.status === 'True';

interface Start {
  /** As far as they have come: up to and including the one that the pod waits for. */
  readonly init: readonly Container[];
  /** Why the pod waits, if it does. */
  readonly reason?: string;
  /** Nothing is said of the other containers yet. */
  readonly pending: boolean;
}

const isDone = ({ terminated }: Container): boolean => terminated !== undefined && (terminated.exitCode ?? 0) === 0;
const isUpBeside = ({ sidecar, started }: Container): boolean => sidecar && started;

const waitReason = ({ terminated, waiting }: Container, progress: string): string => {
  if (terminated !== undefined) return `Init:${endReason(terminated)}`;
  return `Init:${waiting === '' || waiting === 'PodInitializing' ? progress : waiting}`;
};

const startOf = (pod: Readonly<JsonMap>): Start => {
  const all = containersIn(pod, 'initContainerStatuses');
  const index = all.findIndex((container) => !isDone(container) && !isUpBeside(container));
  const container = all[index];
  if (container === undefined) return { init: all, pending: false };
  const progress = `${index}/${asList(asMap(pod.spec).initContainers).length}`;
  return {
    init: all.slice(0, index + 1),
    reason: waitReason(container, progress),
    pending: !isTrue(pod, 'Initialized'),
  };
};

/** What the containers say, the first of them last; of a pod whose containers have all ended well, whether it is up nevertheless. */
const containerReason = (pod: Readonly<JsonMap>, phase: string): string => {
  let [reason, failure, running] = [phase, '', false];
  for (const container of containersIn(pod, 'containerStatuses').toReversed()) {
    if (container.waiting !== '') reason = container.waiting;
    else if (container.terminated !== undefined) {
      reason = endReason(container.terminated);
      if ((container.terminated.exitCode ?? 0) !== 0) failure = reason;
    } else if (container.ready && container.running) running = true;
  }
  if (reason !== 'Completed') return reason;
  if (running && isTrue(pod, 'Ready')) return 'Running';
  return failure || (running ? 'NotReady' : reason);
};

const isGated = (pod: Readonly<JsonMap>): boolean =>
  mapsIn(asMap(pod.status).conditions).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );

export const podStatus: CellOf = (pod) => {
  const status = asMap(pod.status);
  const phase = textOf(status.phase);
  if (getPath(pod, ['metadata', 'deletionTimestamp']) !== undefined) {
    if (status.reason === 'NodeLost') return 'Unknown';
    if (phase !== 'Failed' && phase !== 'Succeeded') return 'Terminating';
  }
  const own = isGated(pod) ? 'SchedulingGated' : textOf(status.reason) || phase;
  const { reason = own, pending } = startOf(pod);
  return pending ? reason : containerReason(pod, reason);
};

const isUp = ({ ready, running, waiting, terminated }: Container): boolean =>
  ready && running && waiting === '' && terminated === undefined;

export const podReady: CellOf = (pod) => {
  const { init, pending } = startOf(pod);
  const main = pending ? [] : containersIn(pod, 'containerStatuses');
  const beside = init.filter((container) => isUpBeside(container) && !isDone(container) && container.ready);
  const total = asList(asMap(pod.spec).containers).length + sidecarNames(pod).size;
  return `${beside.length + main.filter(isUp).length}/${total}`;
};

export const podRestarts: CellOf = (pod, now) => {
  const { init, pending } = startOf(pod);
  const which = pending ? init : [...init.filter(({ sidecar }) => sidecar), ...containersIn(pod, 'containerStatuses')];
  const count = which.reduce((sum, { restarts }) => sum + restarts, 0);
  const ends = which.flatMap(({ lastEnd }) => lastEnd ?? []).sort((a, b) => Date.parse(a) - Date.parse(b));
  const last = ends.at(-1);
  return count === 0 || last === undefined ? String(count) : `${count} (${sinceText(last, now)} ago)`;
};

export const podIp: CellOf = (pod) => textOf(mapsIn(asMap(pod.status).podIPs)[0]?.ip) || none;

export const podGates: CellOf = (pod) => {
  const gates = mapsIn(asMap(pod.spec).readinessGates).map(({ conditionType }) => textOf(conditionType));
  return gates.length === 0 ? none : `${gates.filter((type) => isTrue(pod, type)).length}/${gates.length}`;
};

const endings: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

/** The conditions of a pod's row in a Table: whether it has ended. Empty for all other kinds and pods. */
export const podConditions = (object: Readonly<JsonMap>): readonly JsonMap[] => {
  const reason = textOf(asMap(object.status).phase);
  const message = endings[reason];
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason, message }];
};
