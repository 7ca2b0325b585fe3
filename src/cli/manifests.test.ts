import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { proberConfig } from '../prober/config.ts';
import { weederConfig } from '../weeder/config.ts';
import { guessResource } from './manifests/rights.ts';
import { dwd } from './testing/dwd.ts';

interface Container {
  readonly args: readonly string[];
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: object;
  readonly volumeMounts: readonly object[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly spec?: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: object;
      readonly spec: { readonly containers: readonly Container[]; readonly volumes: readonly object[] };
    };
  };
}

const manifests = async (...flags: readonly string[]): Promise<readonly Manifest[]> => {
  const { code, stdout, stderr } = await dwd('manifests', ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
};

const ofKind = (all: readonly Manifest[], kind: string): Manifest => all.find((one) => one.kind === kind)!;
const containerOf = (all: readonly Manifest[]): Container =>
  ofKind(all, 'Deployment').spec!.template.spec.containers[0]!;
const podOf = (all: readonly Manifest[]): Manifest['spec'] & object => ofKind(all, 'Deployment').spec!;

const kindsOfPlain = [
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'ConfigMap',
  'NetworkPolicy',
  'Service',
  'Deployment',
  'PodDisruptionBudget',
];

describe('dwd manifests', () => {
  it.each([
    ['--namespace=Bad_NS', 'flag --namespace takes the name of a namespace: at most 63 lower case letters, '],
    ['--namespace=-a', 'flag --namespace takes the name of a namespace'],
    ['--namespace=a.b', 'flag --namespace takes the name of a namespace'],
    [`--namespace=${'a'.repeat(64)}`, 'flag --namespace takes the name of a namespace'],
    ['-n=', 'flag --namespace takes the name of a namespace'],
    ['--image=a b', 'flag --image takes an image reference such as registry.example/dependency-watchdog:1.0.0; it '],
    ['--image=a:', 'flag --image takes an image reference'],
    ['--image=:tag', 'flag --image takes an image reference'],
    ['--image=a//b', 'flag --image takes an image reference'],
    [
      '--name-prefix=',
      'flag --name-prefix takes at most 40 lower case letters, digits and "-", the first of them a letter',
    ],
    ['--name-prefix=1-', 'flag --name-prefix takes at most 40 lower case letters'],
    ['--name-prefix=Dwd-', 'flag --name-prefix takes at most 40 lower case letters'],
    [`--name-prefix=${'a'.repeat(41)}`, 'flag --name-prefix takes at most 40 lower case letters'],
    ['--replicas=0', 'flag --replicas takes a whole number >= 1; it was given "0"'],
    ['--profile=seed', 'flag --profile takes plain or gardener-seed; it was given "seed"'],
    ['--component=prober,kubelet', 'flag --component takes one or more of prober, weeder, care'],
    ['--component=prober,shoot-access', 'flag --component takes shoot-access alone: it is for a shoot, and '],
    ['--component=', 'flag --component takes one or more of prober, weeder, care'],
    ['--set=prober.logLevel', 'flag --set takes KEY=VALUE; it was given "prober.logLevel"'],
    ['--set=prober.loglevel=info', 'flag --set has no key "prober.loglevel"; the keys are: '],
    [
      '--set=prober.logLevel=loud',
      'flag --set prober.logLevel= takes debug, info, error or panic; it was given "loud"',
    ],
    [
      '--set=prober.memoryLimitMiB=255',
      'flag --set prober.memoryLimitMiB= takes a whole number >= 256; it was given "255"',
    ],
    ['--set=care.memoryRequestMiB=600', 'flag --set care.memoryRequestMiB= must be at most care.memoryLimitMiB'],
    ['--set=networkPolicy.apiServerPorts=443,65536', 'flag --set networkPolicy.apiServerPorts= takes TCP ports'],
    ['--set=nodeSelector=a', 'flag --set nodeSelector= takes labels such as tier=system,zone=a; it was given "a"'],
    ['--set=nodeSelector=-=b', 'flag --set nodeSelector= takes labels'],
    ['--set=tolerations={}', 'flag --set tolerations= takes a JSON list of tolerations'],
    ['--set=tolerations=[{"key":1}]', 'flag --set tolerations= takes a JSON list of tolerations'],
    ['--set=imagePullSecrets=A', 'flag --set imagePullSecrets= takes names of Secrets, separated by commas'],
  ])('refuses %s', async (arg, message) => {
    const { code, stdout, stderr } = await dwd(
      'manifests',
      ...(arg.startsWith('--component') ? [] : ['--component=prober']),
      arg,
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`dwd manifests: ${message}`);
  });

  it.each([
    ['a', 'localhost:5000/a/b_c:v1.2-x'],
    ['a'.repeat(63), 'registry.example/dwd@sha256:0123456789abcdef'],
  ])('takes namespace %s and image %s', async (namespace, image) => {
    const all = await manifests('--component=prober', '-n', namespace, `--image=${image}`);
    const deployment = ofKind(all, 'Deployment');
    expect(deployment.metadata.namespace).toBe(namespace);
    expect(deployment.spec!.template.spec.containers[0]!.image).toBe(image);
  });

  it.each([
    ['prober', ['--kube-api-qps=20', '--kube-api-burst=100']],
    ['weeder', ['--kube-api-qps=5', '--kube-api-burst=10']],
    ['care', ['--kube-api-qps=20', '--kube-api-burst=40']],
  ])('prints all objects that run the %s', async (component, limits) => {
    const all = await manifests('--component', component);
    expect(all.map(({ kind }) => kind)).toEqual(kindsOfPlain);
    for (const { kind, metadata } of all) {
      const isWide = kind.startsWith('Cluster');
      expect(metadata.name).toMatch(
        kind === 'ConfigMap'
          ? new RegExp(`^dwd-${component}-config-[0-9a-f]{8}$`)
          : `${isWide ? 'dependency-watchdog.gardener.cloud:garden:' : ''}dwd-${component}`,
      );
      expect(metadata.namespace).toBe(isWide ? undefined : 'garden');
      expect(metadata.labels).toEqual({
        app: `dwd-${component}`,
        'app.kubernetes.io/name': 'dependency-watchdog',
        'dependency-watchdog.gardener.cloud/component': component,
        'dependency-watchdog.gardener.cloud/installation': 'garden',
        'app.kubernetes.io/component': component,
      });
    }
    expect(containerOf(all).args).toEqual([
      component,
      '--config-file=/etc/dependency-watchdog/config.yaml',
      '--enable-leader-election=true',
      '--leader-election-namespace=garden',
      ...limits,
      '--zap-log-level=info',
      ...(component === 'prober' ? ['--page-bind-addr=127.0.0.1:9645'] : []),
    ]);
    expect(ofKind(all, 'Role').rules?.at(-1)).toMatchObject({ resourceNames: [`dwd-${component}-leader-election`] });
  });

  it('prints several components in the order in which to apply them, each once', async () => {
    const [prober, weeder] = [await manifests('--component=prober'), await manifests('--component=weeder')];
    expect(await manifests('--component=weeder, Prober,weeder')).toEqual([...prober, ...weeder]);
  });

  it('reads the configuration of each of several components', async () => {
    const files = '--config-file=weeder=weeder.yaml,prober=config.yaml';
    const all = await manifests('--component=prober,weeder', files);
    const texts = all.filter(({ kind }) => kind === 'ConfigMap').map(({ data }) => data?.['config.yaml']);
    expect(texts).toEqual([
      expect.stringContaining('kubeConfigSecretName: probe'),
      expect.stringContaining('etcd-main-client'),
    ]);
    expect(await manifests('--component=weeder', '--config-file=weeder.yaml')).toEqual(all.slice(-kindsOfPlain.length));
  });

  it.each(['weeder.yaml', 'weeder.yaml,prober=config.yaml'])('requires the component of %s', async (given) => {
    const { code, stderr } = await dwd('manifests', '--component=prober,weeder', `--config-file=${given}`);
    expect(code).toBe(2);
    expect(stderr).toContain(`flag --config-file must name the component of ${given}: prober=PATH, weeder=PATH, `);
  });

  it('names an immutable ConfigMap by the hash of its content, so that a change causes a roll-out', async () => {
    const names = [];
    for (const flags of [[], ['--config-file=config.yaml'], ['--config-file=config.yaml', '--replicas=5']]) {
      const all = await manifests('--component=prober', ...flags);
      const { metadata, immutable, data } = ofKind(all, 'ConfigMap');
      const hash = createHash('sha256').update(data!['config.yaml']!).digest('hex');
      expect({ immutable, name: metadata.name }).toEqual({
        immutable: true,
        name: `dwd-prober-config-${hash.slice(0, 8)}`,
      });
      expect(podOf(all).template.spec.volumes).toEqual([{ name: 'config', configMap: { name: metadata.name } }]);
      names.push(metadata.name);
    }
    expect(new Set(names).size).toBe(2);
  });

  it.each([
    [[], '512Mi', '320'],
    [['--set=prober.memoryLimitMiB=1000'], '1000Mi', '625'],
  ])('limits the memory, and the heap of V8 by options that every Node accepts: %j', async (flags, memory, heap) => {
    const container = containerOf(await manifests('--component=prober', ...flags));
    expect(container.resources).toEqual({ requests: { cpu: '100m', memory: '192Mi' }, limits: { memory } });
    expect(container.env).toEqual([
      { name: 'NODE_OPTIONS', value: `--max-semi-space-size=8 --max-old-space-size=${heap}` },
    ]);
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
    expect(spawnSync(process.execPath, ['-e', ''], { env, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it('runs with the most restrictive security settings, spread over nodes and zones', async () => {
    const all = await manifests('--component=prober');
    const { replicas, template } = podOf(all);
    expect({ replicas, ...template.spec }).toMatchObject({
      replicas: 2,
      terminationGracePeriodSeconds: 5,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'dwd-prober' } } },
        { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone' },
      ],
      containers: [
        {
          livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
          readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
    expect(ofKind(all, 'PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1 });
  });

  it('accepts other names and numbers, and values that have no flag', async () => {
    const sets = [
      'nodeSelector=pool=system,zone=a',
      'tolerations=[{"key":"infra","operator":"Exists"}]',
      'imagePullSecrets=one,two',
      'priorityClassName=system-cluster-critical',
      'care.logLevel=error',
      'care.logLevel=debug',
      'care.cpuRequest=0.5',
      'care.gardenKubeconfigSecret=garden-access',
    ].map((set) => `--set=${set}`);
    const all = await manifests('--component=care', '--name-prefix=my-', '--replicas=3', '-n=own', ...sets);
    const { replicas, template } = podOf(all);
    expect({ replicas, ...template.spec }).toMatchObject({
      replicas: 3,
      serviceAccountName: 'my-care',
      nodeSelector: { pool: 'system', zone: 'a' },
      tolerations: [{ key: 'infra', operator: 'Exists' }],
      imagePullSecrets: [{ name: 'one' }, { name: 'two' }],
      priorityClassName: 'system-cluster-critical',
      volumes: [{ name: 'config' }, { name: 'garden', secret: { secretName: 'garden-access' } }],
    });
    const container = containerOf(all);
    expect(container.args.slice(-2)).toEqual([
      '--zap-log-level=debug',
      '--garden-kubeconfig=/etc/dependency-watchdog-garden/kubeconfig',
    ]);
    expect(container.volumeMounts[1]).toMatchObject({ mountPath: '/etc/dependency-watchdog-garden', readOnly: true });
    expect(container.resources).toMatchObject({ requests: { cpu: '0.5' } });
    expect(ofKind(all, 'ClusterRole').metadata.name).toBe('dependency-watchdog.gardener.cloud:own:my-care');
  });

  it('omits empty values', async () => {
    const spec = podOf(await manifests('--component=prober')).template.spec;
    for (const key of ['nodeSelector', 'tolerations', 'imagePullSecrets', 'priorityClassName']) {
      expect(spec).not.toHaveProperty(key);
    }
  });

  it('has a ServiceMonitor if enabled, and no NetworkPolicy if disabled', async () => {
    const sets = [
      '--set=serviceMonitor.enabled',
      '--set=networkPolicy.enabled',
      '--set=serviceMonitor.labels=prometheus',
    ];
    const all = await manifests('--component=weeder', `${sets[0]}=true`, `${sets[1]}=false`, `${sets[2]}=main`);
    expect(all.map(({ kind }) => kind)).toEqual(
      kindsOfPlain.map((kind) => (kind === 'NetworkPolicy' ? 'ServiceMonitor' : kind)),
    );
    const monitor = ofKind(all, 'ServiceMonitor');
    expect(monitor.metadata.labels).toMatchObject({ app: 'dwd-weeder', prometheus: 'main' });
    expect(monitor.spec).toEqual({
      selector: { matchLabels: { app: 'dwd-weeder' } },
      endpoints: [{ port: 'metrics', interval: '30s', honorLabels: true }],
    });
  });

  it.each(['prober', 'weeder', 'care'])('uses no YAML aliases for the %s', async (component) => {
    const { stdout } = await dwd('manifests', `--component=${component}`);
    expect(stdout).not.toMatch(/: [&*]\w+$/m);
  });

  it.each([
    ['prober', true],
    ['weeder', false],
    ['care', true],
  ])('gives the %s the labels and annotations that a seed of Gardener requires', async (component, reachesShoots) => {
    const all = await manifests('--component', component, '--profile=gardener-seed');
    expect(all.map(({ kind }) => kind)).toEqual(kindsOfPlain.filter((kind) => kind !== 'NetworkPolicy'));
    const labels = [
      'networking.gardener.cloud/to-dns',
      'networking.gardener.cloud/to-runtime-apiserver',
      ...(reachesShoots
        ? [
            'networking.gardener.cloud/to-public-networks',
            'networking.gardener.cloud/to-private-networks',
            'networking.resources.gardener.cloud/to-all-istio-ingresses-istio-ingressgateway-tcp-9443',
            'networking.resources.gardener.cloud/to-all-shoots-kube-apiserver-tcp-443',
          ]
        : []),
    ];
    const { template } = podOf(all);
    expect(template.metadata).toEqual({
      labels: { app: `dwd-${component}`, ...Object.fromEntries(labels.map((label) => [label, 'allowed'])) },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/scheme': 'http',
        'prometheus.io/port': '9643',
        'prometheus.io/name': `dwd-${component}`,
      },
    });
    expect(template.spec).toMatchObject({ priorityClassName: 'gardener-system-800' });
    expect(ofKind(all, 'Deployment').metadata).toMatchObject({
      labels: { 'high-availability-config.resources.gardener.cloud/type': 'controller' },
      annotations: { 'high-availability-config.resources.gardener.cloud/replicas': '2' },
    });
    expect(ofKind(all, 'Service').metadata.annotations).toEqual({
      'networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports':
        '[{"protocol":"TCP","port":9643}]',
    });
    // gardenlet would overwrite objects with the names of its own.
    for (const { metadata } of all) expect(metadata.name).not.toMatch(/(^|:)dependency-watchdog-(prober|weeder)/);
  });

  it('runs in a seed of Gardener only in the namespace that can connect to shoots', async () => {
    const { code, stderr } = await dwd('manifests', '--component=prober', '--profile=gardener-seed', '-n=other');
    expect(code).toBe(2);
    expect(stderr).toContain('dwd manifests: flag --profile gardener-seed needs --namespace garden: ');
  });

  it('quotes text that YAML 1.1, which kubectl reads, would not treat as text', async () => {
    const { stdout } = await dwd('manifests', '--component=prober', '--config-file=named-on.yaml');
    expect(stdout).toMatch(/^ +- "on"$/m);
  });

  it('narrows the rights to the names of the configuration', async () => {
    const all = await manifests('--component=prober', '--config-file=config.yaml');
    expect(ofKind(all, 'ClusterRole').rules?.filter(({ resourceNames }) => resourceNames !== undefined)).toMatchObject([
      { resources: ['secrets'], resourceNames: ['probe'], verbs: ['list', 'watch'] },
      {
        resources: ['deployments'],
        resourceNames: ['kube-controller-manager'],
        verbs: ['get', 'list', 'watch', 'patch'],
      },
    ]);
    expect(ofKind(all, 'ConfigMap').data?.['config.yaml']).toContain('kubeConfigSecretName: probe\n');
  });

  it('takes namespace and image', async () => {
    const all = await manifests('--component=weeder', '--namespace=here', '--image=registry.example/dwd:1');
    expect(ofKind(all, 'ServiceAccount').metadata.namespace).toBe('here');
    const [container] = ofKind(all, 'Deployment').spec?.template.spec.containers ?? [];
    expect(container?.image).toBe('registry.example/dwd:1');
    expect(container?.args).toContain('--leader-election-namespace=here');
  });

  it('prints the errors of the configuration', async () => {
    const { code, stdout, stderr } = await dwd('manifests', '--component=prober', '--config-file=bad.yaml');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('dwd manifests: the configuration is not valid\nbad.yaml:2:16: probeInterval: must be ');
  });

  it('has the same configurations as the examples', () => {
    const example = (name: string): string =>
      readFileSync(new URL(`../../examples/${name}-config.yaml`, import.meta.url), 'utf8');
    const options = { unknownFields: 'error' } as const;
    const prober = proberConfig.load(proberConfig.defaultText, options);
    expect(prober).toMatchObject({ settings: proberConfig.load(example('prober'), options).settings, problems: [] });
    const weeder = weederConfig.load(weederConfig.defaultText, options);
    expect(weeder).toMatchObject({ settings: weederConfig.load(example('weeder'), options).settings, problems: [] });
  });

  it.each([
    ['Deployment', 'deployments'],
    ['Etcd', 'etcds'],
    ['Proxy', 'proxies'],
    ['Ingress', 'ingresses'],
  ])('guesses the plural of %s', (kind, plural) => {
    expect(guessResource(kind)).toBe(plural);
  });
});
