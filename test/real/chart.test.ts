import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { customKind } from '../../simulator/apiserver/kinds.ts';
import { careConfig } from '../../src/care/config.ts';
import { careGrants } from '../../src/care/rights.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants } from '../../src/prober/rights.ts';
import { type Grant, leaseGrants } from '../../src/process/rights/grants.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import { weederGrants } from '../../src/weeder/component.ts';
import type { RbacRule } from '../envtest/access.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { applyCustomKinds } from '../envtest/crds.ts';
import { missingEnvtest } from '../envtest/gate.ts';
import { describeUnless } from '../gate.ts';
import { gardenletPods } from './support/gardenlet.ts';
import { chart, imageValues, missingHelm, objectsIn, proberValues, renderChart, runHelm } from './support/helm.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const seedFile = `${chart}/values-gardener-seed.yaml`;
const gardenletFile = `${chart}/values-gardenlet.yaml`;

const configs = {
  "gardenlet's": proberConfig.defaultText,
  'own names': `
kubeConfigSecretName: probe-kubeconfig
externalProbe: {kubeConfigSecretName: outside-kubeconfig}
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: "{{ namespace }}-controller-manager"}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`,
  'a StatefulSet, a custom kind, and clusters by Secrets': `
clusterSource: {kind: secret, selector: {role: kubeconfig}}
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: StatefulSet, name: controller}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
  - ref: {apiVersion: test.dependency-watchdog.gardener.cloud/v1, kind: Watermill, name: mill}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`,
} as const;

/** Values of the third configuration must not have the default's name of the Secret. */
const valuesOf = (config: string) => {
  const { config: own } = proberValues(config);
  return { config: { ...('kubeConfigSecretName' in own ? {} : { kubeConfigSecretName: null }), ...own } };
};

const everything = {
  ...{
    care: { enabled: true, gardenKubeconfigSecret: 'garden' },
    operator: { enabled: true },
    dashboard: { enabled: true },
  },
  policy: { enabled: true },
  metrics: { serviceMonitor: { enabled: true, labels: { prometheus: 'one' } } },
  prometheusRule: { enabled: true, labels: { prometheus: 'one' }, runbookUrl: 'https://example.org/runbooks' },
};

/** Every file of values and every switch. */
const variants: Readonly<Record<string, Parameters<typeof renderChart>[0]>> = {
  'the defaults': {},
  'everything on': { values: everything },
  'a seed of Gardener': { values: everything, files: [seedFile] },
  'components that gardenlet deploys': { values: { image: { repository: '', tag: '' } }, files: [gardenletFile] },
  'policies before webhooks': { values: { ...everything, policy: { enabled: true, beforeWebhooks: true } } },
  'the prober alone': { values: { weeder: { enabled: false }, networkPolicy: { enabled: false } } },
  'the weeder alone': { values: { prober: { enabled: false }, operator: { enabled: true } } },
  'other names': {
    values: { ...everything, fullnameOverride: '', nameOverride: 'guard', prober: valuesOf(configs['own names']) },
  },
  'a custom kind': {
    values: { ...everything, prober: valuesOf(configs['a StatefulSet, a custom kind, and clusters by Secrets']) },
  },
  'what pods may have': {
    values: {
      ...{
        commonLabels: { team: 'seed' },
        podLabels: { a: 'b' },
        podAnnotations: { c: 'd' },
        nodeSelector: { e: 'f' },
      },
      ...{ tolerations: [{ operator: 'Exists' }], priorityClassName: 'high', imagePullSecrets: [{ name: 'pull' }] },
      affinity: { nodeAffinity: {} },
      ...{ extraEnv: [{ name: 'A', value: 'b' }], logLevel: 'debug', replicas: 3 },
      prober: { extraArgs: ['--standby=cold'], resources: { limits: { memory: '2Gi' } } },
      uninstall: { despiteOutage: true },
    },
  },
};

interface MonitoredService {
  readonly metadata: { readonly labels: object };
  readonly spec: {
    readonly selector: object;
    readonly ports: readonly [{ readonly name: string; readonly targetPort: string }];
  };
}

interface NetworkPolicy {
  readonly spec: { readonly podSelector: { readonly matchLabels: object } };
}

interface ServiceMonitor {
  readonly metadata: { readonly labels: object };
  readonly spec: { readonly selector: { readonly matchLabels: object }; readonly endpoints: readonly object[] };
}

/** Names each right that rules grant, so that rules of different form compare. */
const rightsIn = (rules: readonly RbacRule[]): readonly string[] => {
  const names = rules.flatMap(({ apiGroups = [], resources = [], resourceNames = ['*'], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource}.${group} ${name}`)),
      ),
    ),
  );
  return [...new Set(names)].toSorted();
};
const rightsOf = (grants: readonly Grant[]): readonly string[] =>
  rightsIn(
    grants.map(({ group, resource, names, verbs }) => ({
      ...{ apiGroups: [group], resources: [resource], resourceNames: names, verbs },
    })),
  );

const settingsOf = <T>({ settings }: { readonly settings?: T }): T => settings ?? expect.unreachable('not valid');
const strict = { unknownFields: 'error' } as const;
const programs = { prober: proberConfig, weeder: weederConfig, care: careConfig };
const defaults = parse(readFileSync(`${chart}/values.yaml`, 'utf8')) as Readonly<
  Record<string, { readonly config: object }>
>;

describeUnless([missingEnvtest(), missingHelm()], 'the chart', () => {
  const rendered = async (rendering: Parameters<typeof renderChart>[0], kind: string, name: string) => {
    const objects = objectsIn(await renderChart(rendering));
    return (
      objects.find((object) => object.kind === kind && object.metadata.name.endsWith(name)) ?? expect.unreachable(name)
    );
  };
  const rulesOf = async (values: object, kind: string, name: string) =>
    rightsIn((await rendered({ values }, kind, name)).rules ?? []);

  it('with its defaults is deploy/dependency-watchdog.yaml: run `make chart` after a change', async () => {
    const { stdout } = await promisify(execFile)(`${root}tools/render.sh`);
    expect(stdout).toBe(readFileSync(`${root}deploy/dependency-watchdog.yaml`, 'utf8'));
  });

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { readonly version: string };
    const about = parse(readFileSync(`${chart}/Chart.yaml`, 'utf8')) as object;
    expect(about).toMatchObject({ version, appVersion: version });
  });

  it('passes helm lint --strict', async () => {
    const args = ['lint', '--strict', chart, '--namespace=garden', '--values=-'];
    const values = { image: imageValues(), ...everything };
    expect(await runHelm(args, JSON.stringify(values))).toContain('0 chart(s) failed');
  });

  describe('grants exactly the rights that are needed', () => {
    it.each(Object.entries(configs))('to the prober, with the configuration: %s', async (_, config) => {
      const settings = settingsOf(proberConfig.load(config, strict));
      expect(await rulesOf({ prober: valuesOf(config) }, 'ClusterRole', ':dwd-prober')).toEqual(
        rightsOf(proberGrants(settings, ({ kind }) => `${kind.toLowerCase()}s`)),
      );
    });
    it('to the weeder and care', async () => {
      expect(await rulesOf({}, 'ClusterRole', ':dwd-weeder')).toEqual(rightsOf(weederGrants));
      const care = { enabled: true };
      const settings = settingsOf(careConfig.load(careConfig.defaultText, strict));
      expect(await rulesOf({ care }, 'ClusterRole', ':dwd-care')).toEqual(rightsOf(careGrants(settings)));
    });
    it.each(['prober', 'weeder', 'care'])('to elect the leader of the %s', async (component) => {
      expect(await rulesOf({ care: { enabled: true } }, 'Role', `dwd-${component}`)).toEqual(
        rightsOf(leaseGrants(`dwd-${component}-leader-election`, 'garden')),
      );
    });
  });

  it('has the default configurations of the program', () => {
    for (const [component, config] of Object.entries(programs)) {
      const settings = (text: string): unknown => settingsOf<unknown>(config.load(text, strict));
      expect(settings(JSON.stringify(defaults[component]?.config)), component).toEqual(settings(config.defaultText));
    }
  });

  it('has every pod reach the API servers by its NetworkPolicy, also that of the Job that restores', async () => {
    const objects = objectsIn(await renderChart({ values: everything }));
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy') as unknown as NetworkPolicy;
    const pods = objects.flatMap(({ spec: { template } = {} }) => (template === undefined ? [] : [template.metadata]));
    expect(pods).toHaveLength(4);
    for (const pod of pods) expect(pod).toMatchObject({ labels: policy.spec.podSelector.matchLabels });
  });

  it.each(['prober', 'weeder'] as const)('shows Prometheus the pods of the %s that gardenlet deploys', async (file) => {
    const { labels, ports } = gardenletPods(file);
    const rendering = { files: [gardenletFile] };
    const service = (await rendered(rendering, 'Service', file)) as unknown as MonitoredService;
    const monitor = (await rendered(rendering, 'ServiceMonitor', file)) as unknown as ServiceMonitor;
    expect(labels).toMatchObject(service.spec.selector);
    expect(ports).toEqual([service.spec.ports[0].targetPort]);
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
    expect(monitor.spec.endpoints).toEqual([{ port: service.spec.ports[0].name, interval: '30s', honorLabels: true }]);
    expect(monitor.metadata.labels).toMatchObject({ prometheus: 'seed' });
  });

  it.each([
    [{ image: {} }, '/image/repository'],
    [{ image: { ...imageValues(), tag: '' } }, '/image/tag'],
    [{ fullnameOverride: 'Dwd' }, '/fullnameOverride'],
    [{ prober: { config: { nodeLeaseFailureFraction: 1.5 } } }, '/prober/config/nodeLeaseFailureFraction'],
    [{ prober: { config: { dependentResourceInfos: [{ ref: {} }] } } }, '/prober/config/dependentResourceInfos/0/ref'],
    [{ weeder: { resources: { limits: { memory: '512M' } } } }, '/weeder/resources/limits/memory'],
    [{ policy: { proberActions: ['Deny', 'Warn'] } }, '/policy/proberActions'],
    // RBAC reads an empty list of names as every Secret of the cluster.
    [{ prober: { config: { kubeConfigSecretName: null } } }, "missing property 'kubeConfigSecretName'"],
    [
      { prober: { config: { kubeConfigSecretName: null, clusterSource: { kind: 'secret', selector: {} } } } },
      "missing property 'kubeConfigSecretName'",
    ],
    [
      { prober: { config: { clusterSource: { kind: 'secret', selektor: { role: 'kubeconfig' } } } } },
      "'selektor' not allowed",
    ],
    [{ weder: { enabled: true } }, "additional properties 'weder' not allowed"],
    [{ prober: valuesOf(configs['own names'].replaceAll('apps/v1', 'example.org/v1')) }, 'add `resource`'],
  ])('refuses %j', async (values, path) => {
    await expect(renderChart({ values })).rejects.toThrow(path);
  });

  it('refuses no field that a configuration has', () => {
    const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as {
      readonly properties: Readonly<
        Record<string, { readonly properties: { readonly config: { readonly properties: object } } }>
      >;
    };
    for (const [component, config] of Object.entries(programs)) {
      const { properties = {} } = config.jsonSchema() as { readonly properties?: object };
      const known = Object.keys(schema.properties[component]?.properties.config.properties ?? {});
      expect(
        known.filter((key) => !(key in properties)),
        component,
      ).toEqual([]);
    }
  });

  describe('on a real API server', () => {
    let seed: ControlPlane;
    beforeAll(async () => {
      seed = await startControlPlane({ name: 'seed' });
      await seed.kubectl(['create', 'namespace', 'garden']);
      // Pods that this level admits would not be refused by the kubelet.
      await seed.kubectl(['label', 'namespace', 'garden', 'pod-security.kubernetes.io/enforce=restricted']);
      for (const name of ['gardener-system-800', 'high']) {
        await seed.kubectl(['create', 'priorityclass', name, '--value=1']);
      }
      await applyCustomKinds(
        seed.client,
        ['ServiceMonitor', 'PrometheusRule'].map((kind) =>
          customKind({ group: 'monitoring.coreos.com', version: 'v1', kind, resource: `${kind.toLowerCase()}s` }),
        ),
      );
    });
    afterAll(() => seed.stop());

    it('leaves the components every right of a former configuration, for pods that still use it, and has the policy limit them', async () => {
      const former = configs['own names'];
      const { template } = (await rendered({}, 'Deployment', 'dwd-prober')).spec ?? {};
      await seed.client.create('/api/v1/namespaces/garden/serviceaccounts', { metadata: { name: 'default' } });
      const texts = { prober: former, care: 'kubeConfigSecretName: former-kubeconfig\n' };
      for (const [component, config] of Object.entries(texts)) {
        const metadata = { name: `former-${component}`, labels: { app: `dwd-${component}` } };
        const data = { 'config.yaml': config };
        await seed.client.create('/api/v1/namespaces/garden/configmaps', { metadata, data });
        const volumes = [{ name: 'config', configMap: { name: metadata.name } }];
        const spec = { ...template?.spec, serviceAccountName: 'default', volumes };
        await seed.client.create('/api/v1/namespaces/garden/pods', { metadata, spec });
      }

      const now = configs['a StatefulSet, a custom kind, and clusters by Secrets'];
      const flags = ['--dry-run=server', '--is-upgrade', `--kubeconfig=${seed.admin.kubeconfig.file}`];
      const rendering = { values: { ...everything, prober: valuesOf(now) }, flags };
      const role = await rendered(rendering, 'ClusterRole', ':dwd-prober');
      const grants = [now, former].flatMap((config) =>
        proberGrants(settingsOf(proberConfig.load(config, strict)), ({ kind }) => `${kind.toLowerCase()}s`),
      );
      expect(rightsIn(role.rules ?? [])).toEqual(rightsOf(grants));
      const { rules = [] } = await rendered(rendering, 'ClusterRole', ':dwd-care');
      expect(rightsIn(rules)).toContain('list secrets. former-kubeconfig');
      const name = 'dwd-prober.garden.dependency-watchdog.gardener.cloud';
      const policy = await rendered(rendering, 'ValidatingAdmissionPolicy', name);
      expect(JSON.stringify(policy)).toContain('"resources":["deployments"]');
      await seed.kubectl(['delete', 'pods', '--all', '--namespace=garden', '--now']);
    });

    it.each(Object.entries(variants))('is valid with %s', async (_, rendering) => {
      const yaml = await renderChart(rendering);
      const accepted = await seed.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], yaml);
      expect(accepted.trim().split('\n')).toHaveLength(objectsIn(yaml).length);
      for (const { spec: { template } = {} } of objectsIn(yaml)) {
        if (template === undefined) continue;
        const metadata = { name: template.spec.serviceAccountName };
        const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
        await seed.client.apply(`/api/v1/namespaces/garden/serviceaccounts/${metadata.name}`, account);
        const pod = {
          apiVersion: 'v1',
          kind: 'Pod',
          ...template,
          metadata: { ...template.metadata, generateName: 'pod-' },
        };
        await seed.client.create('/api/v1/namespaces/garden/pods?fieldValidation=Strict&dryRun=All', pod);
      }
    });
  });
});
