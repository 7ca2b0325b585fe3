import {
  type ObjectMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalInteger,
  optionalList,
  optionalObject,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { type Condition, findCondition } from './condition.ts';
import { type ConditionRules, conditionProblem, outdatedProblem, wrongCondition } from './health-conditions.ts';
import { type HealthView, type ObjectParts, decodeParts } from './health-objects.ts';
import { notManagedByMcm, poolLabel } from './nodes.ts';

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

/** A machine that machine-controller-manager gave up. */
export interface FailedMachine {
  readonly name: string;
  readonly description: string;
}

/** A MachineDeployment (`machine.sapcloud.io/v1alpha1`). */
export interface MachineDeploymentHealth extends HealthView {
  readonly replicas: number;
  readonly failedMachines: readonly FailedMachine[];
}

const decodeFailedMachines = ({ status, path }: ObjectParts): readonly FailedMachine[] =>
  (optionalList(status.failedMachines, `${path}.status.failedMachines`) ?? []).map((item, index) => {
    const at = `${path}.status.failedMachines[${String(index)}]`;
    const machine = decodeObject(item, at);
    const operation = optionalObject(machine.lastOperation, `${at}.lastOperation`) ?? {};
    return {
      name: decodeString(machine.name, `${at}.name`),
      description: optionalString(operation.description, `${at}.lastOperation.description`) ?? '',
    };
  });

export const decodeMachineDeploymentHealth = (json: unknown, path: string): MachineDeploymentHealth => {
  const parts = decodeParts(json, path);
  return {
    ...parts.view,
    replicas: optionalInteger(parts.spec.replicas, `${path}.spec.replicas`) ?? 0,
    failedMachines: decodeFailedMachines(parts),
  };
};

const trimDots = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === '.') start += 1;
  while (end > start && text[end - 1] === '.') end -= 1;
  return text.slice(start, end);
};

const machineryProblem = ({ reason, message }: Condition): string => `${trimDots(message)} (${reason})`;

/** What is wrong with a MachineDeployment, in the words that follow "is unhealthy: ": unlike those of others, the condition is not named. */
export const machineDeploymentProblem = (deployment: MachineDeploymentHealth): string | undefined =>
  outdatedProblem(deployment) ??
  conditionProblem(
    deployment.conditions,
    { isTrue: ['Available'], maybeTrue: ['Progressing'], maybeFalse: ['ReplicaFailure', 'Frozen'] },
    machineryProblem,
  );
