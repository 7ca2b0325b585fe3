import type { KubeObject } from '../../install/index.ts';
import type { ComponentName } from '../../config/index.ts';
import { metricsPort } from './ports.ts';

/**
 * Requirements of a Gardener seed on pods in its namespace `garden`. Sources, in github.com/gardener: getPodLabels in
 * gardener/pkg/component/nodemanagement/dependencywatchdog/bootstrap.go; gardener/docs/operations/network_policies.md;
 * gardener/pkg/component/observability/monitoring/prometheus/seed/podmonitors.go; gardener/docs/development/priority-classes.md;
 * gardener/docs/concepts/resource-manager.md (high availability config).
 */

/** The only namespace for this profile: the shoots' API servers accept connections of pods with these labels only from this namespace. */
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

/** Labels of pods for network policies. The weeder connects only to the seed's API server; the others also to shoots, and care to the garden. */
export const seedPodLabels = (component: ComponentName): Readonly<Record<string, string>> =>
  allowed(component === 'weeder' ? always : [...always, ...toShoots]);

/** Annotations of pods for scraping. Without the scheme, the seed's Prometheus would use HTTPS in the namespace garden. */
export const seedPodAnnotations = (name: string): Readonly<Record<string, string>> => ({
  'prometheus.io/scrape': 'true',
  'prometheus.io/scheme': 'http',
  'prometheus.io/port': String(metricsPort),
  'prometheus.io/name': name,
});

/** Annotations of a Service that allow the seed's Prometheus to connect to the pods. */
export const seedServiceAnnotations: NonNullable<KubeObject['metadata']['annotations']> = {
  [`${generated}/from-all-seed-scrape-targets-allowed-ports`]: JSON.stringify([{ protocol: 'TCP', port: metricsPort }]),
};

/** Labels of a Deployment: the replicas run on different nodes, and in different zones if the seed has several. */
export const seedDeploymentLabels = { [`${highAvailability}/type`]: 'controller' } as const;

/** Annotations of a Deployment: without them, the webhook of gardener-resource-manager changes any number of replicas to two. */
export const seedDeploymentAnnotations = (replicas: number): Readonly<Record<string, string>> => ({
  [`${highAvailability}/replicas`]: String(replicas),
});
