import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { gardenerConfigs, loadProberConfig, loadWeederConfig } from '../config/index.ts';
import { guessResource } from './manifests/rights.ts';
import { dwd } from './testing/dwd.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly image: string;
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly resources: { readonly limits: { readonly memory: string } };
        }[];
      };
    };
  };
}

const manifests = async (...flags: readonly string[]): Promise<readonly Manifest[]> => {
  const { code, stdout, stderr } = await dwd('manifests', ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
};

const ofKind = (all: readonly Manifest[], kind: string): Manifest => all.find((one) => one.kind === kind)!;

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
  ])('refuses %s', async (arg, message) => {
    const { code, stdout, stderr } = await dwd('manifests', '--component=prober', arg);
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

  it.each(['prober', 'weeder', 'care'])('prints all that runs the %s', async (component) => {
    const all = await manifests('--component', component);
    expect(all.map(({ kind }) => kind)).toEqual([
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
      'ConfigMap',
      'Deployment',
      'PodDisruptionBudget',
      'Service',
    ]);
    for (const { kind, metadata } of all) {
      expect(metadata.name).toContain(`dependency-watchdog-${component}`);
      expect(metadata.namespace).toBe(kind.startsWith('Cluster') ? undefined : 'garden');
    }
    expect(ofKind(all, 'Deployment').spec?.template.spec.containers[0]?.args).toEqual([
      component,
      '--config-file=/etc/dependency-watchdog/config.yaml',
      '--enable-leader-election=true',
      '--leader-election-namespace=garden',
    ]);
    expect(ofKind(all, 'Role').rules?.at(-1)).toMatchObject({ resourceNames: [`dwd-${component}-leader-election`] });
  });

  it('limits the memory, and the part of it that V8 takes for new objects by an option that every Node knows', async () => {
    const [container] = ofKind(await manifests('--component=prober'), 'Deployment').spec!.template.spec.containers;
    expect(container?.resources.limits.memory).toBe('512Mi');
    expect(container?.env).toEqual([{ name: 'NODE_OPTIONS', value: '--max-semi-space-size=8' }]);
    const env = Object.fromEntries(container!.env.map(({ name, value }) => [name, value]));
    expect(spawnSync(process.execPath, ['-e', ''], { env, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(['prober', 'weeder', 'care'])('writes out what is there twice, of the %s', async (component) => {
    const { stdout } = await dwd('manifests', `--component=${component}`);
    expect(stdout).not.toMatch(/: [&*]\w+$/m);
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
      { resources: ['deployments'], resourceNames: ['kube-apiserver'], verbs: ['list', 'watch'] },
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

  it('tells what is wrong with the configuration', async () => {
    const { code, stdout, stderr } = await dwd('manifests', '--component=prober', '--config-file=bad.yaml');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('dwd manifests: the configuration is not valid\nbad.yaml:2:16: probeInterval: must be ');
  });

  it('has the same configurations as the examples', () => {
    const example = (name: string): string =>
      readFileSync(new URL(`../../examples/${name}-config.yaml`, import.meta.url), 'utf8');
    const options = { leftovers: 'error' } as const;
    const prober = loadProberConfig(gardenerConfigs.prober, options);
    expect(prober).toMatchObject({ settings: loadProberConfig(example('prober'), options).settings, problems: [] });
    const weeder = loadWeederConfig(gardenerConfigs.weeder, options);
    expect(weeder).toMatchObject({ settings: loadWeederConfig(example('weeder'), options).settings, problems: [] });
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
