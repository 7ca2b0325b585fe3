import {
  type SimDraft,
  type SimObject,
  type SimStore,
  capiKinds,
  formatTime,
  getPath,
  simKinds,
} from '../apiserver/index.ts';

/** `ClusterNameLabel` in sigs.k8s.io/cluster-api/api/core. */
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';

export interface CapiPlace {
  readonly namespace: string;
  readonly cluster: string;
}

/** Cluster whose control plane is initialized. `ms` since the epoch. */
export const capiClusterObject = ({ namespace, cluster }: CapiPlace, ms: number): SimDraft => ({
  metadata: { name: cluster, namespace },
  spec: { paused: false },
  status: {
    phase: 'Provisioned',
    conditions: [
      {
        ...{ type: 'ControlPlaneInitialized', status: 'True', reason: 'Initialized', message: '' },
        lastTransitionTime: formatTime(ms),
      },
    ],
  },
});

/** Cluster API's phases by the phases of a simulated machine, which are machine-controller-manager's. */
const phases: Readonly<Record<string, string>> = {
  Pending: 'Provisioning',
  Failed: 'Deleting',
  Terminating: 'Deleting',
};

const capiMachineObject = ({ namespace, cluster }: CapiPlace, machine: SimObject): SimDraft => {
  const { name } = machine.metadata;
  const phase = String(getPath(machine, ['status', 'currentStatus', 'phase']));
  return {
    metadata: { name: `${cluster}-${name}`, namespace, labels: { [clusterNameLabel]: cluster } },
    spec: { clusterName: cluster },
    status: { phase: phases[phase] ?? 'Running', ...(phase === 'Pending' ? {} : { nodeRef: { name } }) },
  };
};

/** Mirrors the machines of a cluster, which are in the hidden namespace `machines` of the seed's store, as Machines of Cluster API. */
export const startCapiMachines = (store: SimStore, place: CapiPlace, machines: string): (() => void) => {
  const { namespace } = place;
  return store.subscribe(
    simKinds.Machine,
    ({ type, object, previous }) => {
      const shown = capiMachineObject(place, object);
      if (type === 'DELETED') {
        store.remove(capiKinds.Machine, { namespace, name: shown.metadata.name });
        return;
      }
      const before = previous === undefined ? undefined : capiMachineObject(place, previous);
      if (JSON.stringify(before) !== JSON.stringify(shown)) store.put(capiKinds.Machine, shown);
    },
    machines,
  );
};
