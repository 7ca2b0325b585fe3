import type { Call } from '../kubernetes/api/call.ts';
import {
  type ObjectMeta,
  checkName,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
} from '../kubernetes/api/decode.ts';
import {
  type ListCall,
  listCall,
  runBounds,
  nodeHealthListBounds,
  nodeListBounds,
  nodePageSize,
} from '../kubernetes/api/list-call.ts';
import { type Condition, findCondition } from './condition.ts';
import { type ConditionRules, conditionProblem, wrongCondition } from './required-conditions.ts';
import { type HealthView, decodeParts } from './health-objects.ts';
import { type NodeParts, notManagedByMcm, poolLabel, probedNodeFields, nodeHealthFields } from './node-protobuf.ts';

/** A Node (`v1`) as a probe needs it: a few fields of its 12 KB. */
export interface NodeView {
  readonly name: string;
  readonly managedByMcm: boolean;
  /** Name of its worker pool; undefined if the label is missing. */
  readonly pool?: string | undefined;
  /** Types of the conditions whose status is `"True"`. */
  readonly trueConditions: ReadonlySet<string>;
  readonly inPlaceUpdate: boolean;
  /** True if the node is being deleted or about to be. Absent if its Machine shows that instead. */
  readonly leaving?: boolean;
}

/** True if the condition shows that the node is being updated in place, or that such an update failed. */
const isInPlaceUpdate = ({ type, reason }: NodeParts['conditions'][number]): boolean =>
  type === 'InPlaceUpdate' && (reason === 'ReadyForUpdate' || reason === 'UpdateFailed');

const viewOf = ({ name, pool, notManaged, conditions }: NodeParts): NodeView => {
  const trueConditions = new Set<string>();
  for (const { type, status } of conditions) if (status === 'True') trueConditions.add(type);
  const inPlaceUpdate = conditions.some(isInPlaceUpdate);
  return { name, pool, managedByMcm: notManaged === undefined, trueConditions, inPlaceUpdate };
};

export const decodeNode = (json: unknown, path: string): NodeView => {
  const object = decodeObject(json, path);
  const { name, labels, annotations } = decodeMeta(object, path);
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
  return viewOf({ name, pool: labels[poolLabel], notManaged: annotations[notManagedByMcm], conditions });
};

/** The health of a Node (`v1`). */
export interface NodeHealth extends HealthView {
  /** Name of its worker pool; absent if the label is missing. */
  readonly pool?: string;
  /** True unless the annotation `not-managed-by-mcm` is "1". For the prober, any value of it counts. */
  readonly managedByMcm: boolean;
  /** True if the node is cordoned. */
  readonly unschedulable: boolean;
  /** Version such as `v1.33.2`; empty until the kubelet has reported it. */
  readonly kubeletVersion: string;
}

export const decodeNodeHealth = (json: unknown, path: string): NodeHealth => {
  const { view, spec, status } = decodeParts(json, path);
  const info = optionalObject(status.nodeInfo, `${path}.status.nodeInfo`) ?? {};
  const pool = view.meta.labels[poolLabel];
  return {
    ...view,
    ...(pool === undefined ? {} : { pool }),
    managedByMcm: view.meta.annotations[notManagedByMcm] !== '1',
    unschedulable: optionalBoolean(spec.unschedulable, `${path}.spec.unschedulable`) ?? false,
    kubeletVersion: optionalString(info.kubeletVersion, `${path}.status.nodeInfo.kubeletVersion`) ?? '',
  };
};

/** The part of a node that its readiness depends on. */
type Conditioned = Pick<NodeHealth, 'conditions'>;

export const isNodeReady = ({ conditions }: Conditioned): boolean =>
  findCondition(conditions, 'Ready')?.status === 'True';

/** Pressure in an unknown state counts as pressure. */
const nodeRules = {
  isTrue: ['Ready'],
  maybeFalse: ['DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure'],
} as const satisfies ConditionRules;

/** Returns the problem with a node, as the text after "is unhealthy: ". */
export const nodeProblem = ({ conditions }: Conditioned): string | undefined => conditionProblem(conditions, nodeRules);

/** The fields of a node that the checks of a shoot need. It is small, because many shoots' nodes are in memory at once, and users control their texts. */
export interface WorkerNode
  extends Pick<NodeHealth, 'pool' | 'managedByMcm' | 'unschedulable' | 'kubeletVersion' | 'conditions'> {
  readonly meta: Pick<ObjectMeta, 'name'>;
}

/** Maximum length of each text that is kept of a condition, in UTF-16 code units. Longer texts are cut and end in `...`. */
const longestNodeText = 256;

/** Returns a copy, because a slice of a text keeps the whole text in memory. */
const cutText = (text: string): string =>
  text.length <= longestNodeText ? text : `${Array.from(text.slice(0, longestNodeText - 3)).join('')}...`;

const keptCondition = ({ type, status, reason, message }: Condition): Condition => ({
  type,
  status: cutText(status),
  lastTransitionTime: '',
  lastUpdateTime: '',
  reason: cutText(reason),
  message: cutText(message),
});

/** The Ready condition that all ready nodes share. */
const ready = keptCondition({
  type: 'Ready',
  status: 'True',
  lastTransitionTime: '',
  lastUpdateTime: '',
  reason: '',
  message: '',
});

/** Returns the Ready condition if it is True, and the condition that `nodeProblem` reports. */
const keptConditions = (node: NodeHealth): readonly Condition[] => {
  const wrong = wrongCondition(node.conditions, nodeRules);
  return [...(isNodeReady(node) ? [ready] : []), ...(wrong === undefined ? [] : [keptCondition(wrong)])];
};

/** Like `decodeNodeHealth`, but keeps only the fields that checks need. Both give the same problems, except that long texts are cut. */
export const decodeWorkerNode = (json: unknown, path: string): WorkerNode => {
  const node = decodeNodeHealth(json, path);
  const { meta, pool, managedByMcm, unschedulable, kubeletVersion } = node;
  return {
    meta: { name: meta.name },
    ...(pool === undefined ? {} : { pool }),
    managedByMcm,
    unschedulable,
    kubeletVersion,
    conditions: keptConditions(node),
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
  bounds: nodeHealthListBounds,
});

/** Like `listNodeHealth`, with only the fields that the checks of a shoot need. */
export const listWorkerNodes: Call<readonly WorkerNode[]> = nodesOf({
  decode: decodeWorkerNode,
  protobuf: { ...nodeHealthFields, project: (draft, path) => decodeWorkerNode(draft, path()) },
  nameOf: ({ meta }) => meta.name,
  bounds: runBounds.nodes,
});
