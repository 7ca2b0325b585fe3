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
import { type MessageFields, entries, flag, flat, list, text, time, word } from '../kubernetes/protobuf/index.ts';
import { findCondition } from './condition.ts';
import { conditionProblem } from './health.ts';

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

/** The fields of a Node that we read: of its 12 KB, such as the list of images, all others are skipped. */
interface NodeParts {
  readonly name: string;
  readonly pool?: string;
  /** Value of the annotation `not-managed-by-mcm`. */
  readonly notManaged?: string;
  readonly conditions: readonly NodeCondition[];
  // Only for probes:
  /** Value of the annotation `ignore-node`. */
  readonly ignore?: string;
  readonly deletionTimestamp?: string;
  readonly taints?: readonly { readonly key: string }[];
  // Only for health:
  readonly unschedulable?: boolean;
  readonly kubeletVersion?: string;
}

interface NodeCondition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

// Their numbers in protobuf (k8s.io/api `core/v1/generated.proto`).
const conditionFields: MessageFields = {
  1: word('type', ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']),
  2: word('status', ['True', 'False', 'Unknown']),
  5: text('reason'),
};

const nodeHealthFields: Omit<ProtobufKind<object>, 'project'> = {
  apiVersion: 'v1',
  fields: {
    1: flat({ 1: text('name'), 11: entries({ pool: poolLabel }), 12: entries({ notManaged: notManagedByMcm }) }),
    2: flat({ 4: flag('unschedulable') }),
    3: flat({
      4: list('conditions', { ...conditionFields, 6: text('message') }),
      7: flat({ 7: text('kubeletVersion') }),
    }),
  },
  empty: (): NodeParts => ({ name: '', conditions: [] }),
};

const probedNodeFields: Omit<ProtobufKind<object>, 'project'> = {
  apiVersion: 'v1',
  fields: {
    1: flat({
      1: text('name'),
      9: time('deletionTimestamp'),
      11: entries({ pool: poolLabel }),
      12: entries({ notManaged: notManagedByMcm, ignore: ignoreNodeAnnotation }),
    }),
    2: flat({ 5: list('taints', { 1: text('key') }, () => ({ key: '' })) }),
    3: flat({ 4: list('conditions', conditionFields, () => ({ type: '', status: '', reason: '' })) }),
  },
  empty: (): NodeParts => ({ name: '', taints: [], conditions: [] }),
};

/** Reads the same fields from JSON. */
const decodeNodeParts = (json: unknown, path: string): NodeParts => {
  const object = decodeObject(json, path);
  const { name, labels, annotations, deleting } = decodeMeta(object, path);
  const spec = childObject(object, path, 'spec');
  const status = childObject(object, path, 'status');
  const info = childObject(status, `${path}.status`, 'nodeInfo');
  return {
    name,
    pool: labels[poolLabel],
    notManaged: annotations[notManagedByMcm],
    ignore: annotations[ignoreNodeAnnotation],
    deletionTimestamp: deleting ? 'set' : undefined,
    taints: childObjects(spec, `${path}.spec`, 'taints').map(({ object: taint, path: at }) => ({
      key: decodeString(taint.key, `${at}.key`),
    })),
    conditions: childObjects(status, `${path}.status`, 'conditions').map(({ object: item, path: at }) => ({
      type: decodeString(item.type, `${at}.type`),
      status: optionalString(item.status, `${at}.status`),
      reason: optionalString(item.reason, `${at}.reason`),
      message: optionalString(item.message, `${at}.message`),
    })),
    unschedulable: optionalBoolean(spec.unschedulable, `${path}.spec.unschedulable`),
    kubeletVersion: optionalString(info.kubeletVersion, `${path}.status.nodeInfo.kubeletVersion`),
  };
};

/** A Node (`v1`) as a probe needs it. */
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
const isInPlaceUpdate = ({ type, reason }: NodeCondition): boolean =>
  type === 'InPlaceUpdate' && (reason === 'ReadyForUpdate' || reason === 'UpdateFailed');

const viewOf = ({
  name,
  pool,
  notManaged,
  ignore,
  deletionTimestamp,
  taints = [],
  conditions,
}: NodeParts): NodeView => {
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

export const decodeNode = (json: unknown, path: string): NodeView => viewOf(decodeNodeParts(json, path));

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
};

/** Maximum length of each text of a condition in the problem of a node, in UTF-16 code units. Longer texts are cut and end in `...`. */
const longestNodeText = 256;

/** Returns a copy, because a slice of a text keeps the whole text in memory. */
const cutText = (whole: string): string =>
  whole.length <= longestNodeText ? whole : `${Array.from(whole.slice(0, longestNodeText - 3)).join('')}...`;

const withCutTexts = ({ type, status = '', reason = '', message = '' }: NodeCondition) => ({
  type,
  status: cutText(status),
  reason: cutText(reason),
  message: cutText(message),
});

const healthOf = (parts: NodeParts): NodeHealth => {
  const { name, pool, notManaged, unschedulable = false, kubeletVersion = '', conditions } = parts;
  return {
    meta: { name },
    pool,
    managedByMcm: notManaged !== '1',
    unschedulable,
    kubeletVersion,
    ready: findCondition(conditions, 'Ready')?.status === 'True',
    problem: conditionProblem(conditions.map(withCutTexts), nodeRules),
  };
};

export const decodeNodeHealth = (json: unknown, path: string): NodeHealth => healthOf(decodeNodeParts(json, path));

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
  protobuf: { ...nodeHealthFields, project: (draft, path) => healthOf(checkName(draft as NodeParts, path)) },
  nameOf: ({ meta }) => meta.name,
  bounds: runBounds.nodes,
});
