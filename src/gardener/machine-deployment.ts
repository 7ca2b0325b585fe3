import type { Call } from '../kubernetes/api/call.ts';
import { childObject, childObjects, decodeString, optionalInteger, optionalString } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import type { Condition } from './condition.ts';
import { type HealthView, type ObjectParts, conditionProblem, decodeParts, outdatedProblem } from './health.ts';
import { machineCollection } from './machine.ts';

/** A machine that machine-controller-manager lists as failed. */
export interface FailedMachine {
  readonly name: string;
  readonly description: string;
}

/** The health of a MachineDeployment (`machine.sapcloud.io/v1alpha1`). */
export interface MachineDeploymentHealth extends HealthView {
  readonly replicas: number;
  readonly failedMachines: readonly FailedMachine[];
}

const decodeFailedMachines = ({ status, path }: ObjectParts): readonly FailedMachine[] =>
  childObjects(status, `${path}.status`, 'failedMachines').map(({ object: machine, path: at }) => ({
    name: decodeString(machine.name, `${at}.name`),
    description:
      optionalString(childObject(machine, at, 'lastOperation').description, `${at}.lastOperation.description`) ?? '',
  }));

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

/** Returns the problem with a MachineDeployment, as the text after "is unhealthy: ". Unlike for other kinds, the text does not name the condition. */
export const machineDeploymentProblem = (deployment: MachineDeploymentHealth): string | undefined =>
  outdatedProblem(deployment) ??
  conditionProblem(
    deployment.conditions,
    { isTrue: ['Available'], maybeTrue: ['Progressing'], maybeFalse: ['ReplicaFailure', 'Frozen'] },
    machineryProblem,
  );

export const listMachineDeploymentHealth = (namespace: string): Call<readonly MachineDeploymentHealth[]> =>
  listCall({ path: machineCollection(namespace, 'machinedeployments'), decode: decodeMachineDeploymentHealth });
