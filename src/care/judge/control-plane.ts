import { hasActive } from '../../annotations/scaling-annotations.ts';
import type { CareShoot } from '../../gardener/care-shoots.ts';
import type { ObjectHealth } from '../../gardener/health.ts';
import type { ControlPlaneDeployment } from '../../gardener/workloads.ts';
import { goQuote } from '../../kubernetes/api/go-quote.ts';
import type { Finding } from '../../gardener/shoot-conditions.ts';
import type { CareSettings } from '../config.ts';
import { deploymentFinding, missingNames } from './components.ts';
import { failed, firstFinding, ifRead } from './finding.ts';
import { type CheckInput, hasWorkers } from './observation.ts';

const role = 'controlplane';

const etcdFinding = (all: readonly ObjectHealth[]): Finding | undefined => {
  const etcds = all.filter(({ meta }) => meta.labels['gardener.cloud/role'] === role);
  const missing = missingNames(['etcd-main', 'etcd-events'], etcds);
  if (missing !== undefined) return failed('EtcdMissing', `Missing required etcds: ${missing}`);
  return firstFinding(etcds, ({ meta: { name }, problem }) =>
    problem === undefined
      ? undefined
      : failed('EtcdUnhealthy', `Etcd extension resource ${goQuote(name)} is unhealthy: ${problem}`),
  );
};

const requiredDeployments = (shoot: CareShoot): readonly string[] => [
  'gardener-resource-manager',
  'kube-apiserver',
  'kube-controller-manager',
  ...(hasWorkers(shoot) ? ['kube-scheduler', 'machine-controller-manager'] : []),
  ...(shoot.pools.some(({ minimum, maximum }) => maximum > minimum) ? ['cluster-autoscaler'] : []),
  ...(shoot.vpaEnabled ? ['vpa-admission-controller', 'vpa-recommender', 'vpa-updater'] : []),
];

/** Fails while the prober holds any of its dependent Deployments. */
const scaledDownFinding = (
  deployments: readonly ControlPlaneDeployment[],
  { dependants }: CareSettings,
): Finding | undefined => {
  const byName = new Map(deployments.map((deployment) => [deployment.meta.name, deployment]));
  const held: string[] = [];
  for (const { ref, optional } of dependants) {
    if (ref.apiVersion !== 'apps/v1' || ref.kind !== 'Deployment') continue;
    const deployment = byName.get(ref.name);
    if (deployment === undefined && !optional) {
      const error = `deployments.apps ${goQuote(ref.name)} not found`;
      return failed(
        'ControllersScaledDownCheckError',
        `failed reading Deployment ${ref.name} for scale-down check: ${error}`,
      );
    }
    if (deployment !== undefined && hasActive(deployment.meta)) held.push(ref.name);
  }
  if (held.length === 0) return undefined;
  const text = `The following deployments have been scaled down to 0 replicas by dependency-watchdog-prober: ${held.join(', ')}`;
  return failed('ControllersScaledDown', text);
};

/** Checks etcds, Deployments and scale-downs. If etcds or Deployments cannot be listed, neither is judged. */
export const controlPlaneFinding = ({ seed, shoot, settings }: CheckInput): Finding | undefined =>
  ifRead(seed.deployments, (deployments) =>
    ifRead(
      seed.etcds,
      (etcds) =>
        etcdFinding(etcds) ??
        deploymentFinding(
          deployments.filter((deployment) => deployment.role === role),
          requiredDeployments(shoot),
        ) ??
        (hasWorkers(shoot) ? scaledDownFinding(deployments, settings) : undefined),
    ),
  );
