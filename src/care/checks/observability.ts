import type { CareShoot } from '../../gardener/care-shoots.ts';
import type { ControlPlaneDeployment } from '../../gardener/health-workloads.ts';
import { extensionFinding } from './extensions.ts';
import { type Finding, healthy, ifRead } from './finding.ts';
import { type CheckInput, type SeedObservation, hasWorkers } from './observation.ts';
import { deploymentFinding, managedResourceFinding } from './workloads.ts';

const type = 'ObservabilityComponentsHealthy';
/** ManagedResource that gardenlet deploys together with the Deployment `event-logger`. It shows that this Deployment should exist. */
const eventLoggerResource = 'shoot-event-logger';

/** True if the seed has objects that gardenlet deploys only with logging enabled. Its configuration itself is not visible there. */
const isLoggingEnabled = ({ managedResources }: SeedObservation, logging: readonly ControlPlaneDeployment[]): boolean =>
  logging.length > 0 ||
  (managedResources.ok && managedResources.value.some(({ meta }) => meta.name === eventLoggerResource));

const workloadFinding = ({ seed, shoot }: { readonly seed: SeedObservation; readonly shoot: CareShoot }) =>
  ifRead(seed.deployments, (deployments) => {
    const ofRole = (role: string): readonly ControlPlaneDeployment[] =>
      deployments.filter((deployment) => deployment.role === role);
    const logging = ofRole('logging');
    return (
      deploymentFinding(ofRole('monitoring'), hasWorkers(shoot) ? ['kube-state-metrics'] : []) ??
      (isLoggingEnabled(seed, logging) ? deploymentFinding(logging, ['event-logger']) : undefined)
    );
  });

/** Checks ObservabilityComponentsHealthy. Shoots with the purpose `testing` have no observability components. */
export const checkObservability = (input: CheckInput): Finding =>
  extensionFinding(input, type) ??
  (input.shoot.purpose === 'testing' ? undefined : workloadFinding(input)) ??
  managedResourceFinding(input, type) ??
  healthy('ObservabilityComponentsRunning', 'All observability components are healthy.');
