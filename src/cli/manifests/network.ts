import type { KubeObject } from '../../install/index.ts';
import { nameOf } from './installation.ts';
import type { Part } from './pods.ts';
import { metricsPort } from './ports.ts';

/** As the DNS server's pods have them: 53 by CoreDNS's own manifests, 8053 in shoots of Gardener, 5353 in OpenShift. */
const dnsPorts = [53, 5353, 8053].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ protocol, port })));

/** Probes of the kubelet come from the pod's own node, which no NetworkPolicy keeps out. */
const networkPolicyOf = ({ installation, component }: Part, metadata: KubeObject['metadata']) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata,
  spec: {
    podSelector: { matchLabels: { app: nameOf(installation, component) } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ protocol: 'TCP', port: metricsPort }] }],
    // Where DNS runs, and where API servers are, in the cluster or outside of it, differs from cluster to cluster.
    egress: [{ ports: dnsPorts }, { ports: installation.values['networkPolicy.apiServerPorts'] }],
  },
});

const serviceMonitorOf = ({ installation, component }: Part, metadata: KubeObject['metadata']) => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  metadata: { ...metadata, labels: { ...metadata.labels, ...installation.values['serviceMonitor.labels'] } },
  spec: {
    selector: { matchLabels: { app: nameOf(installation, component) } },
    // Our labels `namespace` and `service` are those of shoots; Prometheus would rename them to exported_namespace and exported_service.
    endpoints: [{ port: 'metrics', interval: installation.values['serviceMonitor.interval'], honorLabels: true }],
  },
});

/** What the profile plain has; in a Gardener seed labels and annotations say the same. */
export const networkOf = (part: Part, metadata: KubeObject['metadata']): readonly KubeObject[] => {
  const { profile, values } = part.installation;
  if (profile !== 'plain') return [];
  return [
    ...(values['networkPolicy.enabled'] ? [networkPolicyOf(part, metadata)] : []),
    ...(values['serviceMonitor.enabled'] ? [serviceMonitorOf(part, metadata)] : []),
  ];
};
