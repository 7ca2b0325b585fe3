import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { ObjectHealth } from '../gardener/health.ts';
import { getManagedResourceHealth } from '../gardener/managed-resource.ts';
import { getDaemonSetHealth, getDeploymentHealth, getStatefulSetHealth } from '../gardener/workloads.ts';
import type { Call } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { goQuote } from '../kubernetes/api/go-quote.ts';
import type { Check } from './check.ts';

/** A workload of the seed or of the shoot. */
export interface WorkloadTarget {
  readonly cluster: 'seed' | 'shoot';
  readonly name: string;
  /** Namespace of the workload. Default: the control-plane namespace in the seed, `kube-system` in the shoot. */
  readonly namespace?: string;
}

interface ObjectCheck {
  /** The noun in messages, which are those of gardener's library, letter by letter. */
  readonly noun: string;
  /** The noun for a missing object. Default: `noun`. */
  readonly properNoun?: string;
  /** Start of the message for an object that could not be read. */
  readonly unread?: string;
  readonly get: (at: NamespacedName) => Call<ObjectHealth>;
  /** Returns the error codes of a problem. */
  readonly codes?: (problem: string) => readonly string[];
}

const objectCheck =
  (kind: ObjectCheck, { cluster, name, namespace }: WorkloadTarget): Check =>
  async ({ extension, seed, shoot, signal }) => {
    const ownNamespace = cluster === 'seed' ? extension.controlPlane : 'kube-system';
    const at = { namespace: namespace ?? ownNamespace, name };
    const { noun, properNoun = noun, unread = `failed to retrieve ${properNoun}`, get, codes } = kind;
    const which = `${goQuote(at.name)} in namespace ${goQuote(at.namespace)}`;
    const client = cluster === 'seed' ? seed : await shoot();
    try {
      const { problem } = (await client.call(get(at), { signal })).value;
      if (problem === undefined) return { status: 'True' };
      return { status: 'False', detail: `${noun} ${which} is unhealthy: ${problem}`, codes: codes?.(problem) ?? [] };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'NotFound') return { status: 'False', detail: `${properNoun} ${which} not found` };
      throw new Error(`${unread} ${which}: ${error.message}`, { cause: error });
    }
  };

/** Returns a check that is False if the Deployment is missing or unhealthy. */
export const deploymentCheck = (target: WorkloadTarget): Check =>
  objectCheck({ noun: 'deployment', get: getDeploymentHealth }, target);

/** Returns a check that is False if the StatefulSet is missing or unhealthy. */
export const statefulSetCheck = (target: WorkloadTarget): Check =>
  objectCheck({ noun: 'statefulSet', properNoun: 'StatefulSet', get: getStatefulSetHealth }, target);

/** Returns a check that is False if the DaemonSet is missing or unhealthy. */
export const daemonSetCheck = (target: WorkloadTarget): Check =>
  objectCheck({ noun: 'daemonSet', properNoun: 'DaemonSet', get: getDaemonSetHealth }, target);

/** Parts of the message about an invalid object, which the user's configuration has caused (gardener's `general/managed_resource.go`). */
const [applying, invalid] = ['error during apply of object ', ' is invalid:'];

const namesInvalidObject = (problem: string): boolean =>
  problem
    .toLowerCase()
    .split('\n')
    .some((line) => {
      const at = line.indexOf(applying);
      return at >= 0 && line.includes(invalid, at + applying.length);
    });

/**
 * Returns a check that is False if the ManagedResource is missing in the control-plane namespace, not applied or not healthy. If one of its objects is invalid,
 * the result has the code `ERR_CONFIGURATION_PROBLEM`.
 */
export const managedResourceCheck = (name: string): Check =>
  objectCheck(
    {
      noun: 'managed resource',
      properNoun: 'Managed Resource',
      unread: 'check Managed Resource failed. Unable to retrieve managed resource',
      get: getManagedResourceHealth,
      codes: (problem) => (namesInvalidObject(problem) ? ['ERR_CONFIGURATION_PROBLEM'] : []),
    },
    { cluster: 'seed', name },
  );
