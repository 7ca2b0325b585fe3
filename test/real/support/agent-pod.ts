/** A container of a pod: the fields that the node agent reads. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

/** A pod: the fields that the node agent reads. */
export interface AgentPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    /** `Never` for the pod of a Job. */
    readonly restartPolicy?: string;
    readonly serviceAccountName?: string;
    readonly containers: readonly Container[];
    readonly volumes?: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
  };
}

/** Returns the path of the pod in the API. */
export const podPath = ({ metadata: { namespace, name } }: AgentPod): string =>
  `/api/v1/namespaces/${namespace}/pods/${name}`;

/** A change of a pod's status, with a key that is equal for equal statuses. */
export interface PodStatusChange {
  readonly key: string;
  readonly status: object;
}

const containerStatus = ({ name, image }: Container, ready: boolean, state: object) => ({
  name,
  image,
  imageID: '',
  ready,
  restartCount: 0,
  state,
});

/** Returns the status of a pod whose container has ended, as that of a Job does. */
export const endedStatus = (container: Container, exitCode: number): PodStatusChange => {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  const terminated = { exitCode, reason, finishedAt: new Date().toISOString() };
  return {
    key: 'ended',
    status: {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      containerStatuses: [containerStatus(container, false, { terminated })],
    },
  };
};

/** Returns the status of a pod whose container runs. */
export const runningStatus = (container: Container, ready: boolean): PodStatusChange => ({
  key: ready ? 'ready' : 'not-ready',
  status: {
    phase: 'Running',
    conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status: ready ? 'True' : 'False' })),
    containerStatuses: [containerStatus(container, ready, { running: { startedAt: new Date().toISOString() } })],
  },
});
