import {
  ApiError,
  type Call,
  type NamespacedName,
  daemonSetProblem,
  deploymentProblem,
  getDaemonSetHealth,
  getDeploymentHealth,
  getManagedResourceHealth,
  getStatefulSetHealth,
  goQuote,
  managedResourceProblem,
  statefulSetProblem,
} from '../domain/index.ts';
import type { Check } from './check.ts';

/** A workload of the seed or of the shoot. */
export interface WorkloadTarget {
  readonly cluster: 'seed' | 'shoot';
  readonly name: string;
  /** Default: the control-plane namespace in the seed, `kube-system` in the shoot. */
  readonly namespace?: string;
}

interface ObjectCheck<T> {
  /** As messages name it. */
  readonly noun: string;
  readonly get: (at: NamespacedName) => Call<T>;
  readonly problem: (object: T) => string | undefined;
  /** Error codes of a problem. */
  readonly codes?: (problem: string) => readonly string[];
}

const objectCheck =
  <T>({ noun, get, problem, codes }: ObjectCheck<T>, { cluster, name, namespace }: WorkloadTarget): Check =>
  async ({ extension, seed, shoot, signal }) => {
    const ownNamespace = cluster === 'seed' ? extension.controlPlane : 'kube-system';
    const at = { namespace: namespace ?? ownNamespace, name };
    const what = `${noun} ${goQuote(at.name)} in namespace ${goQuote(at.namespace)}`;
    const client = cluster === 'seed' ? seed : await shoot();
    try {
      const { value } = await client.call(get(at), { signal });
      const found = problem(value);
      if (found === undefined) return { status: 'True' };
      return { status: 'False', detail: `${what} is unhealthy: ${found}`, codes: codes?.(found) ?? [] };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'NotFound') return { status: 'False', detail: `${what} not found` };
      throw new Error(`failed to retrieve ${what}: ${error.message}`, { cause: error });
    }
  };

export const deploymentCheck = (target: WorkloadTarget): Check =>
  objectCheck({ noun: 'deployment', get: getDeploymentHealth, problem: deploymentProblem }, target);

export const statefulSetCheck = (target: WorkloadTarget): Check =>
  objectCheck({ noun: 'statefulSet', get: getStatefulSetHealth, problem: statefulSetProblem }, target);

export const daemonSetCheck = (target: WorkloadTarget): Check =>
  objectCheck({ noun: 'daemonSet', get: getDaemonSetHealth, problem: daemonSetProblem }, target);

/** What the API server finds invalid, the user has configured (gardener's `general/managed_resource.go`). */
const invalidObject = /error during apply of object .* is invalid:/i;

/** A ManagedResource of the control-plane namespace: applied and healthy. An object in it that is invalid is a configuration problem. */
export const managedResourceCheck = (name: string): Check =>
  objectCheck(
    {
      noun: 'managed resource',
      get: getManagedResourceHealth,
      problem: managedResourceProblem,
      codes: (problem) => (invalidObject.test(problem) ? ['ERR_CONFIGURATION_PROBLEM'] : []),
    },
    { cluster: 'seed', name },
  );
