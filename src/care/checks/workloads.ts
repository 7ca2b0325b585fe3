import type { ShootConditionType } from '../../gardener/shoot-conditions.ts';
import { type ControlPlaneDeployment, deploymentProblem } from '../../gardener/health-workloads.ts';
import { managedResourceCountsFor, managedResourceFailure } from '../../gardener/managed-resource.ts';
import { goQuote } from '../../kubernetes/api/go-quote.ts';
import { type Finding, failed, ifRead } from './finding.ts';
import type { CheckInput } from './observation.ts';

/** Formats the names in `required` that no object has, for messages. Returns undefined if there are none. */
export const missingNames = (
  required: readonly string[],
  objects: readonly { readonly meta: { readonly name: string } }[],
): string | undefined => {
  const present = new Set(objects.map(({ meta }) => meta.name));
  const missing = required.filter((name) => !present.has(name)).toSorted();
  return missing.length === 0 ? undefined : `[${missing.join(' ')}]`;
};

/** Fails unless the required Deployments exist and all are healthy. */
export const deploymentFinding = (
  deployments: readonly ControlPlaneDeployment[],
  required: readonly string[],
): Finding | undefined => {
  const missing = missingNames(required, deployments);
  if (missing !== undefined) return failed('DeploymentMissing', `Missing required deployments: ${missing}`);
  for (const deployment of deployments) {
    const problem = deploymentProblem(deployment);
    if (problem === undefined) continue;
    return failed('DeploymentUnhealthy', `Deployment ${goQuote(deployment.meta.name)} is unhealthy: ${problem}`);
  }
  return undefined;
};

/** Returns the first failure of a ManagedResource that counts for the condition. */
export const managedResourceFinding = (
  { seed, settings, now }: CheckInput,
  type: ShootConditionType,
): Finding | undefined =>
  ifRead(seed.managedResources, (resources) => {
    const rollout = { now, progressingThresholdMs: settings.progressingThresholdMs };
    for (const resource of resources) {
      if (!managedResourceCountsFor(resource, type)) continue;
      const failure = managedResourceFailure(resource, rollout);
      if (failure !== undefined) return failed(failure.reason, failure.message);
    }
    return undefined;
  });
