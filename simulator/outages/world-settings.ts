import type { ProberSettings } from '../../src/prober/index.ts';
import { type WeederSettings, weederConfig } from '../../src/weeder/index.ts';
import { externalProbe, gardenSettings } from '../harness/index.ts';
import type { Plan } from './plan.ts';

/** Changes that a hot reload may make. A plan refers to them by index. */
export const otherSettings: readonly Partial<ProberSettings>[] = [
  { probeIntervalMs: 5_000 },
  { nodeLeaseFailureFraction: 0.8 },
  { dependentResources: gardenSettings.dependentResources.slice(0, 2) },
  {
    dependentResources: gardenSettings.dependentResources.map((resource) => ({
      ...resource,
      scaleUp: { ...resource.scaleUp, initialDelayMs: 0 },
    })),
  },
];

export const proberSettings = (
  { outside, source, settings }: Pick<Plan, 'outside' | 'source' | 'settings'>,
  reload: number | undefined,
): ProberSettings => ({
  ...gardenSettings,
  ...settings,
  ...(source === 'secret' ? { clusterSource: { key: 'kubeconfig' } } : {}),
  ...(outside === undefined ? {} : { externalProbe: externalProbe(outside) }),
  ...(reload === undefined ? {} : otherSettings[reload]),
});

/** The weeder's settings, as gardenlet configures them. */
const { settings: gardenWeeder } = weederConfig.load(weederConfig.defaultText, { unknownFields: 'error' }) as {
  readonly settings: WeederSettings;
};

/** The services of etcd, and of kube-apiserver, which depends on it. */
export const weededServices = ['etcd-main-client', 'kube-apiserver'] as const;

/** Changes that a hot reload may make to the weeder's settings, like `otherSettings`. */
export const otherWeederSettings: readonly Partial<WeederSettings>[] = [
  { watchDurationMs: 45_000 },
  { services: gardenWeeder.services.filter(({ name }) => name !== weededServices[0]) },
  {
    services: gardenWeeder.services.map((service) => ({
      ...service,
      podSelectors: [
        { matchLabels: { app: 'kubernetes', role: 'apiserver' }, matchExpressions: [] },
        ...service.podSelectors,
      ],
    })),
  },
];

export const weederSettings = (
  { watchDurationMs = gardenWeeder.watchDurationMs }: Pick<Plan, 'watchDurationMs'>,
  reload: number | undefined,
): WeederSettings => ({
  ...gardenWeeder,
  watchDurationMs,
  ...(reload === undefined ? {} : otherWeederSettings[reload]),
});
