import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { describeUnless } from '../gate.ts';
import { chart, missingHelm, runHelm } from './support/helm.ts';
import { manifestVariants } from './support/manifest-variants.ts';
import { startProgram } from './support/program.ts';

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Adds the chart's annotation to the objects of `dwd manifests`: with it, Helm keeps ConfigMaps, which pods may still mount. */
const asKept = (expected: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(expected).map(([key, object]) => {
      if (!key.startsWith('ConfigMap ')) return [key, object];
      const { metadata, ...rest } = object as KubernetesObject;
      return [key, { ...rest, metadata: { ...metadata, annotations: { 'helm.sh/resource-policy': 'keep' } } }];
    }),
  );

/** Returns the objects by kind and name, because Helm's order differs. */
const objectsIn = (yaml: string): Readonly<Record<string, unknown>> => {
  const objects = parseAllDocuments(yaml).map((document) => document.toJS() as KubernetesObject | null);
  return Object.fromEntries(
    objects.flatMap((object) => (object === null ? [] : [[`${object.kind} ${object.metadata.name}`, object]])),
  );
};

const proberConfig = `kubeConfigSecretName: another-secret
# With what YAML and Helm could take amiss: {{ .Values }} "quotes" \\u00e4 #
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: example.org/v1, kind: Proxy, name: "on"}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;

describeUnless([missingHelm()], 'the chart', () => {
  let directory: string;

  const manifests = async (...flags: readonly string[]): Promise<string> => {
    const program = startProgram(['manifests', ...flags]);
    expect(await program.ended).toBe(0);
    return program.stdout();
  };

  /** Renders the chart with these values. */
  const render = async (values: string, ...flags: readonly string[]): Promise<string> => {
    const file = join(directory, 'values.yaml');
    writeFileSync(file, values);
    return runHelm('template', 'a-release', chart, '--values', file, ...flags);
  };

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-chart-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each(manifestVariants)('renders the same objects as dwd manifests: %j', async (flags) => {
    const all = ['--component=prober,weeder,care,operator,policy', ...flags];
    const expected = asKept(objectsIn(await manifests(...all)));
    const rendered = objectsIn(await render(await manifests(...all, '--output=values'), '--namespace=garden'));
    expect(Object.keys(rendered).toSorted()).toEqual(Object.keys(expected).toSorted());
    for (const [key, object] of Object.entries(expected)) expect(rendered[key], key).toEqual(object);
  });

  it('renders the same objects for a configuration of the prober, in another namespace', async () => {
    const file = join(directory, 'prober.yaml');
    writeFileSync(file, proberConfig);
    const flags = ['--component=prober,policy', '--namespace=1', `--config-file=prober=${file}`];
    const rendered = await render(await manifests(...flags, '--output=values'), '--namespace=1');
    expect(objectsIn(rendered)).toEqual(asKept(objectsIn(await manifests(...flags))));
  });

  it('renders by default the objects of dwd manifests for prober and weeder, and passes helm lint', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      readonly version: string;
    };
    const flags = ['--component=prober,weeder', `--image=dependency-watchdog:${version}`];
    expect(objectsIn(await render('', '--namespace=garden'))).toEqual(asKept(objectsIn(await manifests(...flags))));
    expect(await runHelm('lint', chart, '--namespace=garden')).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it('renders the alerts of deploy/monitoring if they are enabled', async () => {
    const all = await render('prometheusRule: {enabled: true, labels: {prometheus: "1"}}', '--namespace=garden');
    const rule = objectsIn(all)['PrometheusRule dwd-alerts'];
    const { spec } = parse(
      readFileSync(new URL('../../deploy/monitoring/prometheusrule.yaml', import.meta.url), 'utf8'),
    ) as {
      readonly spec: object;
    };
    expect(rule).toMatchObject({ metadata: { namespace: 'garden', labels: { prometheus: '1' } }, spec });
  });

  it.each([
    ['profile: gardener-seed', 'profile gardener-seed needs the namespace garden'],
    [
      'prober: {config: "kubeConfigSecretName: another"}',
      'prober.rules are of another configuration than prober.config',
    ],
    [
      `policy: {enabled: true, objectsFor: ${'0'.repeat(8)}-${'0'.repeat(8)}}`,
      'policy.objects are of other configurations than prober.config and weeder.config',
    ],
    ['weeder: {memoryRequestMiB: 513}', 'weeder.memoryRequestMiB must be at most weeder.memoryLimitMiB'],
    ['weeder: {memory: 513}', "additional properties 'memory' not allowed"],
    ['policy: {proberActions: [Warn, Deny]}', "at '/policy/proberActions': 'not' failed"],
    ['namePrefix: Dwd', "'Dwd' does not match pattern"],
  ])('refuses %s', async (values, problem) => {
    await expect(render(values, '--namespace=elsewhere')).rejects.toThrow(problem);
  });
});
