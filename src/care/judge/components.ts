import type { ControlPlaneDeployment } from '../../gardener/workloads.ts';
import type { Finding } from '../../gardener/shoot-conditions.ts';
import { goQuote } from '../../kubernetes/api/go-quote.ts';
import { failed, firstFinding, ifRead } from './finding.ts';
import { type CheckInput, type SeedObservation, type TunnelObservation, hasWorkers } from './observation.ts';

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
  return firstFinding(deployments, ({ meta, problem }) =>
    problem === undefined
      ? undefined
      : failed('DeploymentUnhealthy', `Deployment ${goQuote(meta.name)} is unhealthy: ${problem}`),
  );
};

/** ManagedResource that gardenlet deploys together with the Deployment `event-logger`. It shows that this Deployment should exist. */
const eventLoggerResource = 'shoot-event-logger';

/** True if the seed has objects that gardenlet deploys only with logging enabled. Its configuration itself is not visible there. */
const isLoggingEnabled = ({ managedResources }: SeedObservation, logging: readonly ControlPlaneDeployment[]): boolean =>
  logging.length > 0 ||
  (managedResources.ok && managedResources.value.some(({ meta }) => meta.name === eventLoggerResource));

/** Checks the Deployments of monitoring and logging. Shoots with the purpose `testing` have none. */
export const observabilityFinding = ({ seed, shoot }: CheckInput): Finding | undefined => {
  if (shoot.purpose === 'testing') return undefined;
  return ifRead(seed.deployments, (deployments) => {
    const ofRole = (role: string) => deployments.filter((deployment) => deployment.role === role);
    const logging = ofRole('logging');
    return (
      deploymentFinding(ofRole('monitoring'), hasWorkers(shoot) ? ['kube-state-metrics'] : []) ??
      (isLoggingEnabled(seed, logging) ? deploymentFinding(logging, ['event-logger']) : undefined)
    );
  });
};

const judgeTunnel = (tunnel: TunnelObservation): Finding | undefined => {
  switch (tunnel.kind) {
    case 'connected':
      return undefined;
    case 'not-deployed':
      return failed('NoTunnelDeployed', 'no tunnels are currently deployed to perform health-check on');
    case 'broken':
      return failed('TunnelConnectionBroken', `Tunnel connection has not been established (${tunnel.error})`);
  }
};

/** Checks the tunnel from the control plane to the nodes. */
export const tunnelFinding = ({ view, shoot }: CheckInput): Finding | undefined =>
  view.kind === 'observed' && hasWorkers(shoot) ? ifRead(view.tunnel, judgeTunnel) : undefined;
