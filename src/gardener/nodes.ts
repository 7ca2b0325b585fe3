import {
  decodeMeta,
  decodeObject,
  decodeString,
  optionalList,
  optionalObject,
  optionalString,
} from '../kubernetes/api/decode.ts';

/** What counts of a Node (`v1`): a few fields of its 12 KB. */
export interface NodeView {
  readonly name: string;
  readonly managedByMcm: boolean;
  /** Name of its worker pool; absent when the label is. */
  readonly pool?: string;
  /** Types of the conditions whose status is `"True"`. */
  readonly trueConditions: ReadonlySet<string>;
  readonly inPlaceUpdate: boolean;
}

/** What counts of a Machine (`machine.sapcloud.io/v1alpha1`). */
export interface MachineView {
  /** Label `node`; absent until the machine has joined. */
  readonly nodeName?: string;
  /** `status.currentStatus.phase`, empty while there is none. */
  readonly phase: string;
}

/** Annotation of a node that machine-controller-manager leaves alone. */
export const notManagedByMcm = 'node.machine.sapcloud.io/not-managed-by-mcm';
/** Label that names a node's worker pool. */
export const poolLabel = 'worker.gardener.cloud/pool';

/** Unhealthy conditions of a pool that names none of its own. */
export const defaultNodeConditions: readonly string[] = [
  'KernelDeadlock',
  'ReadonlyFilesystem',
  'DiskPressure',
  'NetworkUnavailable',
];

/** Whether a condition says that the node is being updated in place, or failed to. */
export const isInPlaceUpdate = (type: string, reason: string | undefined): boolean =>
  type === 'InPlaceUpdate' && (reason === 'ReadyForUpdate' || reason === 'UpdateFailed');

export const decodeNode = (json: unknown, path: string): NodeView => {
  const object = decodeObject(json, path);
  const meta = decodeMeta(object, path);
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const conditions = (optionalList(status.conditions, `${path}.status.conditions`) ?? []).map((item, index) => {
    const at = `${path}.status.conditions[${String(index)}]`;
    const condition = decodeObject(item, at);
    return {
      type: decodeString(condition.type, `${at}.type`),
      status: optionalString(condition.status, `${at}.status`),
      reason: optionalString(condition.reason, `${at}.reason`),
    };
  });
  const pool = meta.labels[poolLabel];
  return {
    name: meta.name,
    managedByMcm: !Object.hasOwn(meta.annotations, notManagedByMcm),
    ...(pool === undefined ? {} : { pool }),
    trueConditions: new Set(conditions.filter(({ status: state }) => state === 'True').map(({ type }) => type)),
    inPlaceUpdate: conditions.some(({ type, reason }) => isInPlaceUpdate(type, reason)),
  };
};

export const decodeMachine = (json: unknown, path: string): MachineView => {
  const object = decodeObject(json, path);
  const nodeName = decodeMeta(object, path).labels.node;
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const current = optionalObject(status.currentStatus, `${path}.status.currentStatus`) ?? {};
  return {
    ...(nodeName === undefined ? {} : { nodeName }),
    phase: optionalString(current.phase, `${path}.status.currentStatus.phase`) ?? '',
  };
};

/** Unhealthy conditions per worker pool, only for pools that name their own. */
export type PoolConditions = ReadonlyMap<string, readonly string[]>;

/**
 * Names of the nodes whose leases may be judged: managed by MCM, healthy, with a live Machine and not in an in-place update. The others'
 * kubelets may well be silent for reasons of their own.
 */
export const candidateNodes = (
  nodes: readonly NodeView[],
  machines: readonly MachineView[],
  poolConditions: PoolConditions,
): ReadonlySet<string> => {
  const withMachine = new Set(
    machines.filter(({ phase }) => phase !== 'Failed' && phase !== 'Terminating').map(({ nodeName }) => nodeName),
  );
  const isHealthy = ({ pool, trueConditions }: NodeView): boolean => {
    const unhealthy = (pool === undefined ? undefined : poolConditions.get(pool)) ?? defaultNodeConditions;
    return !unhealthy.some((type) => trueConditions.has(type));
  };
  return new Set(
    nodes
      .filter((node) => node.managedByMcm && !node.inPlaceUpdate && isHealthy(node) && withMachine.has(node.name))
      .map(({ name }) => name),
  );
};
