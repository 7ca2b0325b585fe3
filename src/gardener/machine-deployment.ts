import type { Call } from '../kubernetes/api/call.ts';
import { childObject, childObjects, decodeString, optionalInteger, optionalString } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { type Condition, findCondition } from './condition.ts';
import { type ObjectHealth, type ObjectParts, conditionProblem, decodeParts, outdatedProblem } from './health.ts';
import { machineCollection } from './machine.ts';

/** A machine that machine-controller-manager lists as failed. */
export interface FailedMachine {
  readonly name: string;
  readonly description: string;
}

/** The health of a MachineDeployment (`machine.sapcloud.io/v1alpha1`). */
export interface MachineDeploymentHealth extends ObjectHealth {
  readonly replicas: number;
  readonly failedMachines: readonly FailedMachine[];
  /** True if it reports that too few of its machines are available. */
  readonly unavailable: boolean;
  /** True while a new MachineSet replaces its machines. */
  readonly rollingOut: boolean;
}

const decodeFailedMachines = ({ status, path }: ObjectParts): readonly FailedMachine[] =>
  childObjects(status, `${path}.status`, 'failedMachines').map(({ object: machine, path: at }) => ({
    name: decodeString(machine.name, `${at}.name`),
    description:
      optionalString(childObject(machine, at, 'lastOperation').description, `${at}.lastOperation.description`) ?? '',
  }));

const trimDots = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === '.') start += 1;
  while (end > start && text[end - 1] === '.') end -= 1;
  return text.slice(start, end);
};

const machineryProblem = ({ reason, message }: Pick<Condition, 'reason' | 'message'>): string =>
  `${trimDots(message)} (${reason})`;

/** Unlike for other kinds, the text does not name the condition. */
const problemOf = (parts: ObjectParts): string | undefined =>
  outdatedProblem(parts) ??
  conditionProblem(
    parts.conditions,
    { isTrue: ['Available'], maybeTrue: ['Progressing'], maybeFalse: ['ReplicaFailure', 'Frozen'] },
    machineryProblem,
  );

export const decodeMachineDeploymentHealth = (json: unknown, path: string): MachineDeploymentHealth => {
  const parts = decodeParts(json, path);
  const { meta, spec, conditions } = parts;
  const progressing = findCondition(conditions, 'Progressing');
  return {
    meta,
    problem: problemOf(parts),
    replicas: optionalInteger(spec.replicas, `${path}.spec.replicas`) ?? 0,
    failedMachines: decodeFailedMachines(parts),
    unavailable: (findCondition(conditions, 'Available')?.status ?? 'True') !== 'True',
    rollingOut: progressing?.status === 'True' && progressing.reason !== 'NewMachineSetAvailable',
  };
};

export const listMachineDeploymentHealth = (namespace: string): Call<readonly MachineDeploymentHealth[]> =>
  listCall({ path: machineCollection(namespace, 'machinedeployments'), decode: decodeMachineDeploymentHealth });
