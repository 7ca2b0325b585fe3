import type { ComponentName } from '../../config/index.ts';
import { seedPodAnnotations, seedPodLabels, seedPriorityClass } from './gardener-seed.ts';
import { type Installation, nameOf } from './installation.ts';
import { healthPort, metricsPort, pagePort } from './ports.ts';

/** A component of an installation. */
export interface Part {
  readonly installation: Installation;
  readonly component: ComponentName;
}

export const configKey = 'config.yaml';
const configPath = '/etc/dependency-watchdog';

/** Removes empty fields. An API server treats an empty field like an absent one. */
const unlessEmpty = (fields: Readonly<Record<string, string | object>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && Object.keys(value).length > 0));

export const configMapNameOf = ({ installation, component }: Part): string =>
  `${nameOf(installation, component)}-config-${installation[component].hash}`;

/** Where the Secret with the kubeconfig for the garden is mounted: as a directory, because the kubelet updates only such a mount in a running pod. */
const gardenPath = '/etc/dependency-watchdog-garden';

/** Returns the name of the Secret with the kubeconfig for the garden; empty if there is none. */
const gardenSecretOf = ({ installation: { values }, component }: Part): string =>
  component === 'care' ? values['care.gardenKubeconfigSecret'] : '';

const argumentsOf = (part: Part): readonly string[] => {
  const { installation, component } = part;
  const { logLevel, kubeApiQps, kubeApiBurst } = installation.values[component];
  return [
    component,
    `--config-file=${configPath}/${configKey}`,
    '--enable-leader-election=true',
    `--leader-election-namespace=${installation.namespace}`,
    `--kube-api-qps=${kubeApiQps}`,
    `--kube-api-burst=${kubeApiBurst}`,
    `--zap-log-level=${logLevel}`,
    ...(component === 'prober' ? [`--page-bind-addr=127.0.0.1:${pagePort}`] : []),
    ...(gardenSecretOf(part) === '' ? [] : [`--garden-kubeconfig=${gardenPath}/kubeconfig`]),
  ];
};

const probe = (path: string) => ({ httpGet: { path, port: 'health' }, timeoutSeconds: 5 });

const containerOf = (part: Part) => {
  const { installation, component } = part;
  const { cpuRequest, memoryRequestMiB, memoryLimitMiB } = installation.values[component];
  return {
    name: 'dependency-watchdog',
    image: installation.image,
    imagePullPolicy: 'IfNotPresent',
    args: argumentsOf(part),
    ports: [
      { name: 'metrics', containerPort: metricsPort, protocol: 'TCP' },
      { name: 'health', containerPort: healthPort, protocol: 'TCP' },
    ],
    // Without a limit, V8 lets its young generation grow to 128 MB, regardless of need (docs/adr/0011-memory.md).
    env: [
      {
        name: 'NODE_OPTIONS',
        value: `--max-semi-space-size=8 --max-old-space-size=${installation[component].heapLimitMiB}`,
      },
    ],
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10, failureThreshold: 3 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
    resources: {
      requests: { cpu: cpuRequest, memory: `${memoryRequestMiB}Mi` },
      limits: { memory: `${memoryLimitMiB}Mi` },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'config', mountPath: configPath, readOnly: true },
      ...(gardenSecretOf(part) === '' ? [] : [{ name: 'garden', mountPath: gardenPath, readOnly: true }]),
    ],
  };
};

const spread = (topologyKey: string, labels: object) => ({
  maxSkew: 1,
  topologyKey,
  // A cluster with only one node or one available zone must still run both replicas.
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: labels },
});

const podSpecOf = (part: Part): object => {
  const { installation, component } = part;
  const { values, profile } = installation;
  const { imagePullSecrets, nodeSelector, tolerations } = values;
  const priorityClassName = profile === 'gardener-seed' ? seedPriorityClass : values.priorityClassName;
  const selected = { app: nameOf(installation, component) };
  const secretName = gardenSecretOf(part);
  return {
    ...unlessEmpty({ priorityClassName, nodeSelector, tolerations, imagePullSecrets }),
    serviceAccountName: nameOf(installation, component),
    automountServiceAccountToken: true,
    // Within 3 s, the pending write ends and the Lease is released.
    terminationGracePeriodSeconds: 5,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      // The mounted Secret is readable only by its group.
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    topologySpreadConstraints: [
      spread('kubernetes.io/hostname', selected),
      spread('topology.kubernetes.io/zone', selected),
    ],
    containers: [containerOf(part)],
    volumes: [
      { name: 'config', configMap: { name: configMapNameOf(part) } },
      ...(secretName === '' ? [] : [{ name: 'garden', secret: { secretName, defaultMode: 0o440 } }]),
    ],
  };
};

export const podTemplateOf = (part: Part): object => {
  const { installation, component } = part;
  const isSeed = installation.profile === 'gardener-seed';
  const name = nameOf(installation, component);
  return {
    metadata: {
      labels: { app: name, ...(isSeed ? seedPodLabels(component) : {}) },
      ...(isSeed ? { annotations: seedPodAnnotations(name) } : {}),
    },
    spec: podSpecOf(part),
  };
};
