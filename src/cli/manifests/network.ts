import type { KubeObject } from '../../install/index.ts';
import { nameOf } from './installation.ts';
import type { Part } from './pods.ts';
import { metricsPort } from './ports.ts';

/** Ports of the DNS server's pods: 53 in CoreDNS's own manifests, 8053 in shoots of Gardener, 5353 in OpenShift. */
const dnsPorts = [53, 5353, 8053].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ protocol, port })));

/** Has no rule for the kubelet's probes: they come from the pod's own node, which a NetworkPolicy never blocks. */
const networkPolicyOf = ({ installation, component }: Part, metadata: KubeObject['metadata']) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata,
  spec: {
    podSelector: { matchLabels: { app: nameOf(installation, component) } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ protocol: 'TCP', port: metricsPort }] }],
    // Restricts ports but no addresses: those of DNS and of API servers differ from cluster to cluster.
    egress: [{ ports: dnsPorts }, { ports: installation.values['networkPolicy.apiServerPorts'] }],
  },
});

const serviceMonitorOf = ({ installation, component }: Part, metadata: KubeObject['metadata']) => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  metadata: { ...metadata, labels: { ...metadata.labels, ...installation.values['serviceMonitor.labels'] } },
  spec: {
    selector: { matchLabels: { app: nameOf(installation, component) } },
    // The labels `namespace` and `service` of our metrics name shoots. Without honorLabels, Prometheus renames them to exported_namespace and exported_service.
    endpoints: [{ port: 'metrics', interval: installation.values['serviceMonitor.interval'], honorLabels: true }],
  },
});

/** Returns the network objects of the profile plain. In a Gardener seed, labels and annotations replace them. */
export const networkOf = (part: Part, metadata: KubeObject['metadata']): readonly KubeObject[] => {
  const { profile, values } = part.installation;
  if (profile !== 'plain') return [];
  return [
    ...(values['networkPolicy.enabled'] ? [networkPolicyOf(part, metadata)] : []),
    ...(values['serviceMonitor.enabled'] ? [serviceMonitorOf(part, metadata)] : []),
  ];
};
