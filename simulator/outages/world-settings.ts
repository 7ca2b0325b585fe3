import type { ProberSettings } from '../../src/prober/index.ts';
import type { WeededService, WeederSettings } from '../../src/weeder/index.ts';
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

const etcdService = 'etcd-main-client';

/** The weeder's settings, as gardenlet configures them. */
const gardenWeeder: WeederSettings = {
  watchDurationMs: 300_000,
  services: [
    {
      name: etcdService,
      podSelectors: [
        {
          matchLabels: {},
          matchExpressions: [
            { key: 'gardener.cloud/role', operator: 'In', values: ['controlplane'] },
            { key: 'role', operator: 'In', values: ['apiserver'] },
          ],
        },
      ],
    },
    {
      name: 'kube-apiserver',
      podSelectors: [
        {
          matchLabels: {},
          matchExpressions: [
            { key: 'gardener.cloud/role', operator: 'In', values: ['controlplane'] },
            { key: 'role', operator: 'NotIn', values: ['main', 'apiserver'] },
          ],
        },
      ],
    },
  ],
};

/** The services of etcd, and of kube-apiserver, which depends on it. */
export const weededServices = [etcdService, 'kube-apiserver'] as const;

const without = (name: string): readonly WeededService[] =>
  gardenWeeder.services.filter((service) => service.name !== name);

/** Changes that a hot reload may make to the weeder's settings, like `otherSettings`. */
export const otherWeederSettings: readonly Partial<WeederSettings>[] = [
  { watchDurationMs: 45_000 },
  { services: without(etcdService) },
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
