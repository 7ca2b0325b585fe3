import { type ComponentConfig, type FormerFields, componentConfig } from '../config/index.ts';
import { weederFindings } from './config-rules.ts';
import { type WeederConfig, weederSchema } from './config-schema.ts';
import type { WeederSettings } from './settings.ts';

const settingsFrom = (config: WeederConfig): WeederSettings => ({
  watchDurationMs: config.watchDuration,
  services: Object.entries(config.servicesAndDependantSelectors).map(([name, { podSelectors }]) => ({
    name,
    podSelectors,
  })),
});

/** The configuration that gardenlet generates (NewDependencyWatchdogWeederConfiguration in https://github.com/gardener/gardener/tree/master/pkg/component). */
const defaultText = `watchDuration: 5m0s
servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
  kube-apiserver:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: NotIn, values: [main, apiserver]}
`;

const present = 'servicesAndDependantSelectors';
const one = { until: '1.0' };

/** Fields of the Go program before 1.0: pkg/restarter. The first versions had one service. */
const formerFields: FormerFields = {
  services: { ...one, now: present, stoodFor: [present] },
  service: { ...one, now: present, stoodFor: [present] },
  dependantPods: { ...one, now: 'podSelectors' },
  labels: one,
  namespace: one,
};

export const weederConfig: ComponentConfig<WeederSettings> = componentConfig({
  component: 'weeder',
  defaultText,
  schema: weederSchema,
  formerFields,
  findings: weederFindings,
  settingsFrom,
});
