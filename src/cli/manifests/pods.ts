import type { ComponentName } from '../../config/index.ts';
import { seedPodAnnotations, seedPodLabels, seedPriorityClass } from './gardener-seed.ts';
import { type Installation, nameOf } from './installation.ts';
import { healthPort, metricsPort } from './ports.ts';

/** A component of an installation. */
export interface Part {
  readonly installation: Installation;
  readonly component: ComponentName;
}

export const configKey = 'config.yaml';
const configPath = '/etc/dependency-watchdog';
const gardenPath = '/etc/dependency-watchdog-garden';

/** Everything but what is empty: an API server takes the two for the same. */
const unlessEmpty = (fields: Readonly<Record<string, string | object>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && Object.keys(value).length > 0));

export const configMapNameOf = ({ installation, component }: Part): string =>
  `${nameOf(installation, component)}-config-${installation[component].hash}`;

/** The Secret whose kubeconfig reaches the garden, for care. */
const gardenSecretOf = ({ installation, component }: Part): string =>
  component === 'care' ? installation.values['care.gardenKubeconfigSecret'] : '';

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
    ...(gardenSecretOf(part) === '' ? [] : [`--garden-kubeconfig=${gardenPath}/kubeconfig`]),
  ];
};

const probe = (path: string) => ({ httpGet: { path, port: 'health' }, timeoutSeconds: 5 });

const containerOf = (part: Part) => {
  const { installation, component } = part;
  const { cpuRequest, memoryRequestMiB, memoryLimitMiB } = installation.values[component];
  // A directory, not a single file: only so the kubelet brings changes of a Secret to the running pod.
  const garden = { name: 'garden', mountPath: gardenPath, readOnly: true };
  return {
    name: 'dependency-watchdog',
    image: installation.image,
    imagePullPolicy: 'IfNotPresent',
    args: argumentsOf(part),
    ports: [
      { name: 'metrics', containerPort: metricsPort, protocol: 'TCP' },
      { name: 'health', containerPort: healthPort, protocol: 'TCP' },
    ],
    // V8 lets its space for new objects grow to 128 MB, whatever the program needs (docs/adr/0011-memory.md).
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
      ...(gardenSecretOf(part) === '' ? [] : [garden]),
    ],
  };
};

const spread = (topologyKey: string, labels: object) => ({
  maxSkew: 1,
  topologyKey,
  // A cluster of one node, or with one zone left, runs both replicas all the same.
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: labels },
});

const podSpecOf = (part: Part): object => {
  const { installation, component } = part;
  const { values, profile } = installation;
  const { imagePullSecrets, nodeSelector, tolerations } = values;
  const priorityClassName = profile === 'gardener-seed' ? seedPriorityClass : values.priorityClassName;
  const secretName = gardenSecretOf(part);
  const selected = { app: nameOf(installation, component) };
  return {
    ...unlessEmpty({ priorityClassName, nodeSelector, tolerations, imagePullSecrets }),
    serviceAccountName: nameOf(installation, component),
    automountServiceAccountToken: true,
    // The write in flight ends and the Lease is released within 3 s.
    terminationGracePeriodSeconds: 5,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      // For the Secret, of which only its group may read.
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
