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
import { type NodeParts, notManagedByMcm, poolLabel, probedNode, wholeNode } from './node-protobuf.ts';

/** What counts of a Node (`v1`): a few fields of its 12 KB. */
export interface NodeView {
  readonly name: string;
  readonly managedByMcm: boolean;
  /** Name of its worker pool; undefined when the label is missing. */
  readonly pool?: string | undefined;
  /** Types of the conditions whose status is `"True"`. */
  readonly trueConditions: ReadonlySet<string>;
  readonly inPlaceUpdate: boolean;
  /** It is being deleted, or about to be; absent where its Machine tells that. */
  readonly leaving?: boolean;
}

/** True for a condition of a node that is updated in place, or whose update has failed. */
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

/** A Node (`v1`) as far as its health goes. */
export interface NodeHealth extends HealthView {
  /** Name of its worker pool; absent when the label is. */
  readonly pool?: string;
  /** Not so where the annotation `not-managed-by-mcm` is "1"; other values do not count, unlike for the prober. */
  readonly managedByMcm: boolean;
  /** Cordoned. */
  readonly unschedulable: boolean;
  /** Such as `v1.33.2`; empty where the kubelet has not said. */
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

/** What of a node tells whether it is ready. */
type Conditioned = Pick<NodeHealth, 'conditions'>;

export const isNodeReady = ({ conditions }: Conditioned): boolean =>
  findCondition(conditions, 'Ready')?.status === 'True';

/** Pressure that nobody knows of counts as pressure. */
const nodeRules = {
  isTrue: ['Ready'],
  maybeFalse: ['DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure'],
} as const satisfies ConditionRules;

/** What is wrong with a node, in the words that follow "is unhealthy: ". */
export const nodeProblem = ({ conditions }: Conditioned): string | undefined => conditionProblem(conditions, nodeRules);

/** A node as far as the judgement of a shoot goes: many are held at once, of many shoots, whose users may write what they like into them. */
export interface WorkerNode
  extends Pick<NodeHealth, 'pool' | 'managedByMcm' | 'unschedulable' | 'kubeletVersion' | 'conditions'> {
  readonly meta: Pick<ObjectMeta, 'name'>;
}

/** Of the kept text of a condition, in UTF-16 units; longer ones end in `...`. */
const longestNodeText = 256;

/** A copy: a slice of a text keeps all of it in memory. */
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

/** Shared by all nodes that are ready. */
const ready = keptCondition({
  type: 'Ready',
  status: 'True',
  lastTransitionTime: '',
  lastUpdateTime: '',
  reason: '',
  message: '',
});

/** Ready, and the condition that `nodeProblem` tells of. */
const keptConditions = (node: NodeHealth): readonly Condition[] => {
  const wrong = wrongCondition(node.conditions, nodeRules);
  return [...(isNodeReady(node) ? [ready] : []), ...(wrong === undefined ? [] : [keptCondition(wrong)])];
};

/** As `decodeNodeHealth`, without what nobody asks a node for. Both are judged the same, but for the length of the words. */
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

/** Nodes by one of their projections, of which each reads only what it needs. */
const nodesOf = <Node>(
  part: Pick<ListCall<Node>, 'decode' | 'protobuf' | 'nameOf' | 'bounds'>,
): Call<readonly Node[]> => listCall({ path: '/api/v1/nodes', kind: 'NodeList', pageSize: nodePageSize, ...part });

export const listNodes: Call<readonly NodeView[]> = nodesOf({
  decode: decodeNode,
  protobuf: { ...probedNode, project: (draft, path) => viewOf(checkName(draft as NodeParts, path)) },
  nameOf: ({ name }) => name,
  bounds: nodeListBounds,
});

export const listNodeHealth: Call<readonly NodeHealth[]> = nodesOf({
  decode: decodeNodeHealth,
  protobuf: { ...wholeNode, project: (draft, path) => decodeNodeHealth(draft, path()) },
  nameOf: ({ meta }) => meta.name,
  bounds: nodeHealthListBounds,
});

/** As `listNodeHealth`, with no more of each node than a shoot is judged by. */
export const listWorkerNodes: Call<readonly WorkerNode[]> = nodesOf({
  decode: decodeWorkerNode,
  protobuf: { ...wholeNode, project: (draft, path) => decodeWorkerNode(draft, path()) },
  nameOf: ({ meta }) => meta.name,
  bounds: runBounds.nodes,
});
