import type { CareShoot } from '../../gardener/care-shoots.ts';
import type { ControlPlaneDeployment } from '../../gardener/health-workloads.ts';
import { extensionFinding } from './extensions.ts';
import { type Finding, healthy, ifRead } from './finding.ts';
import { type CheckInput, type SeedObservation, hasWorkers } from './observation.ts';
import { deploymentFinding, managedResourceFinding } from './workloads.ts';

const type = 'ObservabilityComponentsHealthy';
/** Deployed together with the Deployment `event-logger`, so it shows that there should be one. */
const eventLoggerResource = 'shoot-event-logger';

/** The seed does not show gardenlet's configuration, but what gardenlet deploys when logging is enabled. */
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

/** ObservabilityComponentsHealthy. Shoots with the purpose `testing` have no observability components. */
export const checkObservability = (input: CheckInput): Finding =>
  extensionFinding(input, type) ??
  (input.shoot.purpose === 'testing' ? undefined : workloadFinding(input)) ??
  managedResourceFinding(input, type) ??
  healthy('ObservabilityComponentsRunning', 'All observability components are healthy.');
