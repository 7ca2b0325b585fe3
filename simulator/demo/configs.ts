import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { weederConfig } from '../../src/weeder/index.ts';
import {
  clusterAutoscaler,
  kubeControllerManager,
  kubeconfigSecretName,
  machineControllerManager,
  type WorldSource,
} from '../world/index.ts';
import { demoTiming } from './setting.ts';

/** Returns the prober's configuration: levels as gardenlet sets them, times that fit the demo's shortened times. */
export const demoProberConfig = (source: WorldSource = 'gardener'): string => `clusterSource: {kind: ${source}}
kubeConfigSecretName: ${kubeconfigSecretName}
probeInterval: 2s
initialDelay: 1s
probeTimeout: 5s
backoffJitterFactor: 0.2
kcmNodeMonitorGraceDuration: ${formatGoDuration(demoTiming.graceMs)}
nodeLeaseFailureFraction: 0.6
dependentResourceInfos:
- ref:
    {apiVersion: apps/v1, kind: Deployment, name: ${kubeControllerManager}}
  scaleUp: {level: 0}
  scaleDown: {level: 1}
- ref:
    {apiVersion: apps/v1, kind: Deployment, name: ${machineControllerManager}}
  scaleUp: {level: 1, initialDelay: 2s}
  scaleDown: {level: 0}
- ref:
    {apiVersion: apps/v1, kind: Deployment, name: ${clusterAutoscaler}}
  optional: true
  scaleUp: {level: 2}
  scaleDown: {level: 0}
`;

/** The weeder's configuration, as Gardener deploys it. */
export const demoWeederConfig: string = weederConfig.defaultText;
