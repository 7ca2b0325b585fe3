import type { CareDeployment, CareShoot } from '../../domain/index.ts';
import { extensionFinding } from './extensions.ts';
import { type Finding, healthy, ifRead } from './finding.ts';
import { type Circumstances, hasWorkers, type SeedView } from './observation.ts';
import { deploymentFinding, managedResourceFinding } from './workloads.ts';

const type = 'ObservabilityComponentsHealthy';
/** Comes with the Deployment `event-logger`, and so tells that there should be one. */
const eventLoggerResource = 'shoot-event-logger';

/** Nothing in the seed says whether gardenlet is configured to log, but what it deploys then does. */
const isLoggingEnabled = ({ managedResources }: SeedView, logging: readonly CareDeployment[]): boolean =>
  logging.length > 0 ||
  (managedResources.ok && managedResources.value.some(({ meta }) => meta.name === eventLoggerResource));

const workloadFinding = ({ seed, shoot }: { readonly seed: SeedView; readonly shoot: CareShoot }) =>
  ifRead(seed.deployments, (deployments) => {
    const ofRole = (role: string): readonly CareDeployment[] =>
      deployments.filter((deployment) => deployment.role === role);
    const logging = ofRole('logging');
    return (
      deploymentFinding(ofRole('monitoring'), hasWorkers(shoot) ? ['kube-state-metrics'] : []) ??
      (isLoggingEnabled(seed, logging) ? deploymentFinding(logging, ['event-logger']) : undefined)
    );
  });

/** ObservabilityComponentsHealthy. Shoots for testing have nothing that observes them. */
export const checkObservability = (circumstances: Circumstances): Finding =>
  extensionFinding(circumstances, type) ??
  (circumstances.shoot.purpose === 'testing' ? undefined : workloadFinding(circumstances)) ??
  managedResourceFinding(circumstances, type) ??
  healthy('ObservabilityComponentsRunning', 'All observability components are healthy.');
