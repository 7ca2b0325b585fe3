import { type Condition, findCondition } from './conditions.ts';
import {
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalInteger,
  optionalList,
  optionalObject,
  optionalString,
} from './decode.ts';
import { conditionProblem, outdatedProblem } from './health-conditions.ts';
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

export const isNodeReady = ({ conditions }: NodeHealth): boolean =>
  findCondition(conditions, 'Ready')?.status === 'True';

/** What is wrong with a node, in the words that follow "is unhealthy: ". Pressure that nobody knows of counts as pressure. */
export const nodeProblem = ({ conditions }: NodeHealth): string | undefined =>
  conditionProblem(conditions, {
    isTrue: ['Ready'],
    maybeFalse: ['DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure'],
  });

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
