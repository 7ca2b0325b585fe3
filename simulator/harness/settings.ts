import type { DependentResource, ProberSettings } from '../../src/prober/index.ts';
import {
  clusterAutoscaler,
  kubeControllerManager,
  kubeconfigSecretName,
  machineControllerManager,
  type WorldSource,
} from '../world/index.ts';

/** Returns the cluster source that a prober with these settings expects of its seed. */
export const worldSourceOf = ({ clusterSource }: Pick<ProberSettings, 'clusterSource'>): WorldSource =>
  clusterSource === undefined ? 'gardener' : 'secret';

const timeoutMs = 30_000;

const deployment = (
  name: string,
  levels: { readonly up: number; readonly down: number; readonly upDelayMs?: number; readonly optional?: boolean },
): DependentResource => ({
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name },
  optional: levels.optional ?? false,
  scaleUp: { level: levels.up, initialDelayMs: levels.upDelayMs ?? 0, timeoutMs },
  scaleDown: { level: levels.down, initialDelayMs: 0, timeoutMs },
});

/**
 * Settings with which gardenlet configures the prober of a seed (NewDependencyWatchdogProberConfiguration in
 * https://github.com/gardener/gardener/blob/master/pkg/component/kubernetes/apiserver/dependency_watchdog.go). Scaled down: MCM and the
 * autoscaler before KCM. Scaled up: KCM before MCM, and MCM before the autoscaler.
 */
export const gardenSettings: ProberSettings = {
  kubeConfigSecretName: kubeconfigSecretName,
  probeIntervalMs: 10_000,
  initialDelayMs: 30_000,
  probeTimeoutMs: 30_000,
  backoffJitterFactor: 0.2,
  nodeMonitorGraceMs: 40_000,
  nodeLeaseFailureFraction: 0.6,
  landingTimeoutMs: 60_000,
  dependentResources: [
    deployment(kubeControllerManager, { up: 0, down: 1 }),
    deployment(machineControllerManager, { up: 1, down: 0, upDelayMs: 30_000 }),
    deployment(clusterAutoscaler, { up: 2, down: 0, optional: true }),
  ],
};
