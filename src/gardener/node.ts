import type { Call } from '../kubernetes/api/call.ts';
import {
  type ObjectMeta,
  checkName,
  childObject,
  childObjects,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalString,
} from '../kubernetes/api/decode.ts';
import {
  type ListCall,
  type ProtobufKind,
  listCall,
  nodeListBounds,
  nodePageSize,
  runBounds,
} from '../kubernetes/api/list-call.ts';
import {
  type MessageFields,
  count,
  entries,
  flag,
  flat,
  list,
  message,
  stringMap,
  text,
  time,
  word,
} from '../kubernetes/protobuf/index.ts';
import { type Condition, findCondition } from './condition.ts';
import { type ConditionRules, conditionProblem, decodeParts, describeWrong } from './health.ts';

/** Annotation of a node that machine-controller-manager must not manage. */
export const notManagedByMcm = 'node.machine.sapcloud.io/not-managed-by-mcm';
/** Label whose value is the name of a node's worker pool. */
const poolLabel = 'worker.gardener.cloud/pool';

/** Annotation with which an operator says that a node is off by plan: `"true"`. */
const ignoreNodeAnnotation = 'dependency-watchdog.gardener.cloud/ignore-node';

/**
 * Taints of nodes that nobody expects to renew their leases: cluster-autoscaler is about to remove the node (`ToBeDeletedTaint` in
 * https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/utils/taints/taints.go), or an operator has said that it is shut down
 * (`TaintNodeOutOfService` in k8s.io/api `core/v1/well_known_taints.go`).
 */
const taintsOfLeaving: ReadonlySet<string> = new Set([
  'ToBeDeletedByClusterAutoscaler',
  'node.kubernetes.io/out-of-service',
]);

// Fields of a Node that are read from protobuf (k8s.io/api `core/v1/generated.proto`). All others, such as the list of images, are skipped.

const conditionType = word('type', ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']);
const conditionStatus = word('status', ['True', 'False', 'Unknown']);

const metadata: MessageFields = {
  1: text('name'),
  3: text('namespace'),
  5: text('uid'),
  6: text('resourceVersion'),
  7: count('generation'),
  9: time('deletionTimestamp'),
  11: stringMap('labels'),
  12: stringMap('annotations'),
};

const condition: MessageFields = {
  1: conditionType,
  2: conditionStatus,
  4: time('lastTransitionTime'),
  5: text('reason'),
  6: text('message'),
};

/** A Node with the fields that health checks read, in the shape of its JSON. */
const nodeHealthFields: Omit<ProtobufKind<object>, 'project'> = {
  apiVersion: 'v1',
  fields: {
    1: message('metadata', metadata),
    2: message('spec', { 4: flag('unschedulable') }),
    3: message('status', { 4: list('conditions', condition), 7: message('nodeInfo', { 7: text('kubeletVersion') }) }),
  },
  empty: () => ({}),
};

/** A Node with only the fields that a probe reads. */
export const probedNodeFields: Omit<ProtobufKind<object>, 'project'> = {
  apiVersion: 'v1',
  fields: {
    1: flat({
      1: text('name'),
      9: time('deletionTimestamp'),
      11: entries({ pool: poolLabel }),
      12: entries({ notManaged: notManagedByMcm, ignore: ignoreNodeAnnotation }),
    }),
    2: flat({ 5: list('taints', { 1: text('key') }, () => ({ key: '' })) }),
    3: flat({
      4: list('conditions', { 1: conditionType, 2: conditionStatus, 5: text('reason') }, () => ({
        type: '',
        status: '',
        reason: '',
      })),
    }),
  },
  empty: (): NodeParts => ({ name: '', taints: [], conditions: [] }),
};

/** The fields of a Node that a probe reads. */
interface NodeParts {
  readonly name: string;
  readonly pool?: string;
  /** Value of the annotation `not-managed-by-mcm`. */
  readonly notManaged?: string;
  /** Value of the annotation `ignore-node`. */
  readonly ignore?: string;
  readonly deletionTimestamp?: string;
  readonly taints: readonly { readonly key: string }[];
  readonly conditions: readonly { readonly type: string; readonly status?: string; readonly reason?: string }[];
}

/** A Node (`v1`) as a probe needs it: a few fields of its 12 KB. */
export interface NodeView {
  readonly name: string;
  readonly managedByMcm: boolean;
  /** Name of its worker pool; undefined if the label is missing. */
  readonly pool?: string | undefined;
  /** Types of the conditions whose status is `"True"`. */
  readonly trueConditions: ReadonlySet<string>;
  readonly inPlaceUpdate: boolean;
  /** True if the node itself says that it is being deleted, about to be, or off by plan. */
  readonly leaving: boolean;
}

/** True if the condition shows that the node is being updated in place, or that such an update failed. */
const isInPlaceUpdate = ({ type, reason }: NodeParts['conditions'][number]): boolean =>
  type === 'InPlaceUpdate' && (reason === 'ReadyForUpdate' || reason === 'UpdateFailed');

const viewOf = ({ name, pool, notManaged, ignore, deletionTimestamp, taints, conditions }: NodeParts): NodeView => {
  const trueConditions = new Set<string>();
  for (const { type, status } of conditions) if (status === 'True') trueConditions.add(type);
  return {
    name,
    pool,
    managedByMcm: notManaged === undefined,
    trueConditions,
    inPlaceUpdate: conditions.some(isInPlaceUpdate),
    leaving: deletionTimestamp !== undefined || ignore === 'true' || taints.some(({ key }) => taintsOfLeaving.has(key)),
  };
};

export const decodeNode = (json: unknown, path: string): NodeView => {
  const object = decodeObject(json, path);
  const { name, labels, annotations, deleting } = decodeMeta(object, path);
  const itemsOf = (part: 'spec' | 'status', field: string) =>
    childObjects(childObject(object, path, part), `${path}.${part}`, field);
  return viewOf({
    name,
    pool: labels[poolLabel],
    notManaged: annotations[notManagedByMcm],
    ignore: annotations[ignoreNodeAnnotation],
    deletionTimestamp: deleting ? 'set' : undefined,
    taints: itemsOf('spec', 'taints').map(({ object: taint, path: at }) => ({
      key: decodeString(taint.key, `${at}.key`),
    })),
    conditions: itemsOf('status', 'conditions').map(({ object: item, path: at }) => ({
      type: decodeString(item.type, `${at}.type`),
      status: optionalString(item.status, `${at}.status`),
      reason: optionalString(item.reason, `${at}.reason`),
    })),
  });
};

/**
 * The health of a Node (`v1`): the fields that the checks of a shoot need. It is small, because many shoots' nodes are in memory at once, and users control
 * their texts.
 */
export interface NodeHealth {
  readonly meta: Pick<ObjectMeta, 'name'>;
  /** Name of its worker pool; absent if the label is missing. */
  readonly pool?: string;
  /** True unless the annotation `not-managed-by-mcm` is "1". For the prober, any value of it counts. */
  readonly managedByMcm: boolean;
  /** True if the node is cordoned. */
  readonly unschedulable: boolean;
  /** Version such as `v1.33.2`; empty until the kubelet has reported it. */
  readonly kubeletVersion: string;
  /** True if its condition `Ready` is True. */
  readonly ready: boolean;
  /** The text after "is unhealthy: "; absent if the node is healthy. */
  readonly problem?: string;
}

/** Pressure in an unknown state counts as pressure. */
const nodeRules = {
  isTrue: ['Ready'],
  maybeFalse: ['DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure'],
} as const satisfies ConditionRules;

/** Maximum length of each text of a condition in the problem of a node, in UTF-16 code units. Longer texts are cut and end in `...`. */
const longestNodeText = 256;

/** Returns a copy, because a slice of a text keeps the whole text in memory. */
const cutText = (whole: string): string =>
  whole.length <= longestNodeText ? whole : `${Array.from(whole.slice(0, longestNodeText - 3)).join('')}...`;

const describeShortly = ({ status, reason, message: text, ...condition }: Condition, expected: string): string =>
  describeWrong({ ...condition, status: cutText(status), reason: cutText(reason), message: cutText(text) }, expected);

export const decodeNodeHealth = (json: unknown, path: string): NodeHealth => {
  const { meta, conditions, spec, status } = decodeParts(json, path);
  const { name, labels, annotations } = meta;
  const info = childObject(status, `${path}.status`, 'nodeInfo');
  return {
    meta: { name },
    pool: labels[poolLabel],
    managedByMcm: annotations[notManagedByMcm] !== '1',
    unschedulable: optionalBoolean(spec.unschedulable, `${path}.spec.unschedulable`) ?? false,
    kubeletVersion: optionalString(info.kubeletVersion, `${path}.status.nodeInfo.kubeletVersion`) ?? '',
    ready: findCondition(conditions, 'Ready')?.status === 'True',
    problem: conditionProblem(conditions, nodeRules, describeShortly),
  };
};

/** Lists nodes in one of their projections, each with only the fields that it needs. */
const nodesOf = <Node>(
  part: Pick<ListCall<Node>, 'decode' | 'protobuf' | 'nameOf' | 'bounds'>,
): Call<readonly Node[]> => listCall({ path: '/api/v1/nodes', kind: 'NodeList', pageSize: nodePageSize, ...part });

export const listNodes: Call<readonly NodeView[]> = nodesOf({
  decode: decodeNode,
  protobuf: { ...probedNodeFields, project: (draft, path) => viewOf(checkName(draft as NodeParts, path)) },
  nameOf: ({ name }) => name,
  bounds: nodeListBounds,
});

export const listNodeHealth: Call<readonly NodeHealth[]> = nodesOf({
  decode: decodeNodeHealth,
  protobuf: { ...nodeHealthFields, project: (draft, path) => decodeNodeHealth(draft, path()) },
  nameOf: ({ meta }) => meta.name,
  bounds: runBounds.nodes,
});
