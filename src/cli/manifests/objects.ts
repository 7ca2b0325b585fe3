import type { PolicyRule } from './rights.ts';

export interface Installation {
  /** `prober`, `weeder`, `care`. */
  readonly component: string;
  readonly namespace: string;
  readonly image: string;
  /** Text of the configuration file. */
  readonly config: string;
  /** In all namespaces of the seed. */
  readonly clusterRules: readonly PolicyRule[];
  /** In the namespace of the installation. */
  readonly rules: readonly PolicyRule[];
}

const configKey = 'config.yaml';
const configPath = '/etc/dependency-watchdog';
const [metricsPort, healthPort] = [9643, 9644];
const rbac = 'rbac.authorization.k8s.io';
const replicas = 2;

const nameOf = ({ component }: Installation): string => `dependency-watchdog-${component}`;

const metaOf = (installation: Installation, extra: object = {}) => ({
  name: nameOf(installation),
  namespace: installation.namespace,
  labels: { app: nameOf(installation) },
  ...extra,
});

const clusterWide = (installation: Installation) => ({
  name: `gardener.cloud:${nameOf(installation)}`,
  labels: { app: nameOf(installation) },
});

const access = (installation: Installation): readonly object[] => {
  const { namespace, clusterRules, rules } = installation;
  const subjects = [{ kind: 'ServiceAccount', name: nameOf(installation), namespace }];
  const wide = clusterWide(installation);
  const own = metaOf(installation, { name: wide.name });
  const apiVersion = `${rbac}/v1`;
  const refTo = (kind: string) => ({ apiGroup: rbac, kind, name: wide.name });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metaOf(installation), automountServiceAccountToken: false },
    { apiVersion, kind: 'ClusterRole', metadata: wide, rules: clusterRules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: wide, roleRef: refTo('ClusterRole'), subjects },
    { apiVersion, kind: 'Role', metadata: own, rules },
    { apiVersion, kind: 'RoleBinding', metadata: own, roleRef: refTo('Role'), subjects },
  ];
};

const probe = (path: string) => ({ httpGet: { path, port: 'health' }, timeoutSeconds: 5 });

const containerOf = ({ component, image, namespace }: Installation) => ({
  name: 'dependency-watchdog',
  image,
  args: [
    component,
    `--config-file=${configPath}/${configKey}`,
    '--enable-leader-election=true',
    `--leader-election-namespace=${namespace}`,
  ],
  ports: [
    { name: 'metrics', containerPort: metricsPort },
    { name: 'health', containerPort: healthPort },
  ],
  // V8 lets its space for new objects grow to 128 MB, whatever the program needs (docs/adr/0011-memory.md).
  env: [{ name: 'NODE_OPTIONS', value: '--max-semi-space-size=8' }],
  livenessProbe: { ...probe('/healthz'), periodSeconds: 10, failureThreshold: 3 },
  readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  // A directory, not a single file: only so the kubelet brings changes of the ConfigMap to the running pod.
  volumeMounts: [{ name: 'config', mountPath: configPath, readOnly: true }],
});

const deploymentOf = (installation: Installation) => {
  const labels = { app: nameOf(installation) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metaOf(installation),
    spec: {
      replicas,
      revisionHistoryLimit: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: nameOf(installation),
          automountServiceAccountToken: true,
          // The write in flight ends and the Lease is released within 3 s.
          terminationGracePeriodSeconds: 5,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [containerOf(installation)],
          volumes: [{ name: 'config', configMap: { name: nameOf(installation) } }],
        },
      },
    },
  };
};

/** The Kubernetes objects that run a component, in the order in which they are to be created. */
export const manifestsOf = (installation: Installation): readonly object[] => {
  const labels = { app: nameOf(installation) };
  const metadata = metaOf(installation);
  return [
    ...access(installation),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [configKey]: installation.config } },
    deploymentOf(installation),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: labels }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        // Each replica is scraped for itself.
        clusterIP: 'None',
        selector: labels,
        ports: [{ name: 'metrics', port: metricsPort, targetPort: 'metrics' }],
      },
    },
  ];
};
