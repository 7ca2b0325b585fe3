import { type JsonMap, type SimObject, asList, asMap, getPath } from '../apiserver/index.ts';

/** A kubelet's view of the only container of a pod. */
export interface ContainerView {
  /** `v1.ContainerState`, the current and the last one. */
  readonly state: Readonly<JsonMap>;
  readonly lastState: Readonly<JsonMap>;
  readonly ready: boolean;
  readonly restartCount: number;
}

interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
}

const conditionsOf = (pod: SimObject): readonly PodCondition[] =>
  asList(asMap(pod.status).conditions) as readonly PodCondition[];

export const isReady = (pod: SimObject): boolean =>
  conditionsOf(pod).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Returns the first container; simulated pods have only one. */
export const containerOf = (pod: SimObject): JsonMap => asMap(asList(asMap(pod.spec).containers)[0]);

/** Returns the container's status; undefined if no kubelet has reported one yet. */
export const viewOf = (pod: SimObject): ContainerView | undefined => {
  const status = asList(asMap(pod.status).containerStatuses)[0];
  return status === undefined ? undefined : (status as unknown as ContainerView);
};

const conditions = (pod: SimObject, ready: boolean, time: string): readonly PodCondition[] => {
  const before = conditionsOf(pod);
  const condition = (type: string, holds: boolean): PodCondition => {
    const status = holds ? 'True' : 'False';
    const known = before.find((other) => other.type === type);
    return { type, status, lastTransitionTime: known?.status === status ? known.lastTransitionTime : time };
  };
  return [
    condition('PodScheduled', true),
    condition('Initialized', true),
    condition('ContainersReady', ready),
    condition('Ready', ready),
  ];
};

export interface KubeletPodReport {
  readonly view: ContainerView;
  /** Current time in RFC 3339. */
  readonly time: string;
  /** Address for a pod that has none yet. */
  readonly ip: string;
}

/** Status that a kubelet reports for a pod whose container has been started. Its phase is `Running` even while the container crash-loops. */
export const statusFrom = (pod: SimObject, { view, time, ip }: KubeletPodReport): JsonMap => {
  const status = asMap(pod.status);
  const { name, image } = containerOf(pod);
  const podIP = getPath(status, ['podIP']) ?? ip;
  return {
    ...status,
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: status.startTime ?? time,
    conditions: conditions(pod, view.ready, time),
    containerStatuses: [{ name, image, imageID: '', ...view }],
  };
};
