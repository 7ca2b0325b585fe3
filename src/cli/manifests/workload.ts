import type { KubeObject } from '../../install/index.ts';
import type { ComponentName } from '../../config/index.ts';
import { seedDeploymentAnnotations, seedDeploymentLabels, seedServiceAnnotations } from './gardener-seed.ts';
import { type Installation, clusterWideNameOf, nameOf, rbacGroup, seedLabelsOf } from './installation.ts';
import { networkOf } from './network.ts';
import { type Part, configKey, configMapNameOf, podTemplateOf } from './pods.ts';
import { metricsPort } from './ports.ts';
import { leaseRules } from './rights.ts';

type Metadata = KubeObject['metadata'];

const metadataOf = ({ installation, component }: Part, extra: Partial<Metadata> = {}): Metadata => ({
  name: nameOf(installation, component),
  namespace: installation.namespace,
  labels: seedLabelsOf(installation, component),
  ...extra,
});

const selectorOf = ({ installation, component }: Part) => ({ matchLabels: { app: nameOf(installation, component) } });

const access = (part: Part): readonly KubeObject[] => {
  const { installation, component } = part;
  const metadata = metadataOf(part);
  const { name, namespace } = metadata;
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const wide = { name: clusterWideNameOf(installation, component), labels: seedLabelsOf(installation, component) };
  const apiVersion = `${rbacGroup}/v1`;
  const refTo = (kind: string, to: string) => ({ apiGroup: rbacGroup, kind, name: to });
  // The Lease is shared with the Go program, so that the two can take over from each other, and with every other installation in the namespace.
  const rules = leaseRules(component);
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    { apiVersion, kind: 'ClusterRole', metadata: wide, rules: installation[component].rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: wide, roleRef: refTo('ClusterRole', wide.name), subjects },
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef: refTo('Role', name), subjects },
  ];
};

/** Returns an immutable ConfigMap named by the hash of its content: a changed configuration causes a roll-out, and a roll-back finds the former one. */
const configMapOf = (part: Part): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadataOf(part, { name: configMapNameOf(part) }),
  immutable: true,
  data: { [configKey]: part.installation[part.component].text },
});

const deploymentOf = (part: Part): KubeObject => {
  const { profile, replicas } = part.installation;
  const metadata = metadataOf(part);
  const isSeed = profile === 'gardener-seed';
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: isSeed
      ? {
          ...metadata,
          labels: { ...metadata.labels, ...seedDeploymentLabels },
          annotations: seedDeploymentAnnotations(replicas),
        }
      : metadata,
    spec: { replicas, revisionHistoryLimit: 2, selector: selectorOf(part), template: podTemplateOf(part) },
  };
};

const serviceOf = (part: Part): KubeObject => {
  const isSeed = part.installation.profile === 'gardener-seed';
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(part, isSeed ? { annotations: seedServiceAnnotations } : {}),
    spec: {
      // Headless, so that each replica is scraped on its own.
      clusterIP: 'None',
      selector: selectorOf(part).matchLabels,
      ports: [{ name: 'metrics', protocol: 'TCP', port: metricsPort, targetPort: 'metrics' }],
    },
  };
};

/** Returns the objects that run a component, in the order in which to apply them. */
export const workloadOf =
  (component: ComponentName) =>
  (installation: Installation): readonly KubeObject[] => {
    const part: Part = { installation, component };
    const selector = selectorOf(part);
    return [
      ...access(part),
      configMapOf(part),
      ...networkOf(part, metadataOf(part)),
      serviceOf(part),
      deploymentOf(part),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: metadataOf(part),
        spec: { maxUnavailable: 1, selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      },
    ];
  };
