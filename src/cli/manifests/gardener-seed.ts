import type { KubeObject } from '../../install/index.ts';
import type { ComponentName } from '../../config/index.ts';
import { metricsPort } from './ports.ts';

/**
 * What a Gardener seed demands of pods in its namespace `garden`. Sources, in github.com/gardener: getPodLabels in
 * gardener/pkg/component/nodemanagement/dependencywatchdog/bootstrap.go; gardener/docs/operations/network_policies.md;
 * gardener/pkg/component/observability/monitoring/prometheus/seed/podmonitors.go; gardener/docs/development/priority-classes.md;
 * gardener/docs/concepts/resource-manager.md (high availability config).
 */

/** The only namespace for this profile: the shoots' API servers let in pods of no other that has these labels. */
export const gardenNamespace = 'garden';

export const seedPriorityClass = 'gardener-system-800';

const networking = 'networking.gardener.cloud';
const generated = 'networking.resources.gardener.cloud';
const highAvailability = 'high-availability-config.resources.gardener.cloud';

const allowed = (keys: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(keys.map((key) => [key, 'allowed']));

const always = [`${networking}/to-dns`, `${networking}/to-runtime-apiserver`];

const toShoots = [
  `${networking}/to-public-networks`,
  `${networking}/to-private-networks`,
  `${generated}/to-all-istio-ingresses-istio-ingressgateway-tcp-9443`,
  `${generated}/to-all-shoots-kube-apiserver-tcp-443`,
];

/** Of pods: the weeder reaches nothing but the seed's API server; the others reach shoots, and care the garden. */
export const seedPodLabels = (component: ComponentName): Readonly<Record<string, string>> =>
  allowed(component === 'weeder' ? always : [...always, ...toShoots]);

/** Of pods. The seed's Prometheus takes HTTPS for granted in the namespace garden. */
export const seedPodAnnotations = (name: string): Readonly<Record<string, string>> => ({
  'prometheus.io/scrape': 'true',
  'prometheus.io/scheme': 'http',
  'prometheus.io/port': String(metricsPort),
  'prometheus.io/name': name,
});

/** Of a Service: lets the seed's Prometheus through to the pods. */
export const seedServiceAnnotations: NonNullable<KubeObject['metadata']['annotations']> = {
  [`${generated}/from-all-seed-scrape-targets-allowed-ports`]: JSON.stringify([{ protocol: 'TCP', port: metricsPort }]),
};

/** Of a Deployment: two replicas on different nodes, and in different zones where the seed has several. */
export const seedDeploymentLabels = { [`${highAvailability}/type`]: 'controller' } as const;

/** Of a Deployment: without it the webhook of gardener-resource-manager makes two replicas of any number. */
export const seedDeploymentAnnotations = (replicas: number): Readonly<Record<string, string>> => ({
  [`${highAvailability}/replicas`]: String(replicas),
});
