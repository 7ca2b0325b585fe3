import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../documents/markdown.ts';
import { type ShellCommand, callsOf } from '../documents/shell.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { runKubectl } from '../envtest/kubectl.ts';
import { createDeployment } from '../envtest/shoot.ts';
import { proberConfig } from '../../src/prober/config/config.ts';
import { operatorKubeconfig } from './support/operator.ts';
import { createPod } from './support/pods.ts';

const namespace = 'shoot--test--one';
const pages = [...globSync('docs/runbooks/*.md', { cwd: root }), 'docs/operate.md', 'src/page/browser/commands.ts'];

/** Names in the documents, with an object of this test for each. */
const placeholders: Readonly<Record<string, string>> = {
  NAMESPACE: namespace,
  POD: 'dwd-prober-1',
  CONFIGMAP: 'dwd-prober-config',
  NAME: 'kube-controller-manager',
  KIND: 'deployments',
};

/** The page's lines are templates of TypeScript. */
const inTypeScript = (text: string): string =>
  text
    .replaceAll(/\$\{shoot\}/g, namespace)
    .replaceAll(/\$\{quoted\(`.*?`\)\}/g, 'deployment/kube-controller-manager')
    .replaceAll(/\$\{ignoreScaling\}/g, 'dependency-watchdog.gardener.cloud/ignore-scaling');

/** Commands for a shoot, which an operator of the seed has no role for, and fragments without a verb's object. */
const others: ReadonlySet<string> = new Set(['get nodes', 'apply', 'get pods -l', 'port-forward']);

/** Returns the calls of kubectl in a page: in blocks, and in the running text. */
const callsIn = (page: string): readonly ShellCommand[] => {
  const text = inTypeScript(readFileSync(root + page, 'utf8'));
  return Array.from(text.matchAll(/(?:^ *|[`'])(kubectl [^`\n]*?)(?=[`']?,?$|`)/gm), ([, line = '']) => line).flatMap(
    (line) => callsOf('kubectl', line),
  );
};

const commands = [...new Map(pages.flatMap(callsIn).map((args) => [args.join(' '), args] as const)).values()].filter(
  (args) => !others.has(args.join(' ')),
);

describeEnvtest("the operator's roles", () => {
  let seed: ControlPlane;
  let operator: string;

  beforeAll(async () => {
    seed = await startControlPlane({ name: 'seed' });
    for (const name of ['garden', namespace]) await seed.client.create('/api/v1/namespaces', { metadata: { name } });
    for (const name of ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler']) {
      await createDeployment(seed.client, namespace, { name, replicas: 1 });
    }
    await createDeployment(seed.client, 'garden', { name: 'dwd-prober', replicas: 1 });
    await seed.kubectl(['label', 'deployment', 'dwd-prober', '-n', 'garden', 'app=dwd-prober']);
    await createPod(seed.client, { namespace: 'garden', name: 'dwd-prober-1', labels: { app: 'dwd-prober' } });
    await seed.kubectl(['create', 'configmap', 'dwd-prober-config', '-n', 'garden']);
    for (const component of ['prober', 'weeder', 'care']) {
      await seed.client.create('/apis/coordination.k8s.io/v1/namespaces/garden/leases', {
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
        metadata: { name: `dwd-${component}-leader-election` },
      });
    }
    operator = await operatorKubeconfig(seed, proberConfig.defaultText);
  });
  afterAll(() => seed.stop());

  /** Runs kubectl as the operator. Resolves to what it prints: its errors, if it fails. */
  const run = (args: ShellCommand): Promise<{ readonly hasFailed: boolean; readonly text: string }> => {
    const { binaries, directory } = seed;
    const flags = [...args, '--request-timeout=10s'];
    return runKubectl({ command: binaries.path('kubectl'), kubeconfig: operator, directory, args: flags }).then(
      (text) => ({ hasFailed: false, text }),
      (error: unknown) => ({ hasFailed: true, text: String(error) }),
    );
  };

  it('are asked about the commands of all pages', () => {
    const verbs = new Set(commands.flat());
    for (const verb of ['logs', 'get', 'describe', 'delete', 'rollout', 'scale', 'top', 'annotate']) {
      expect(verbs, verb).toContain(verb);
    }
    expect(commands.length).toBeGreaterThan(25);
  });

  it.each(commands.map((args) => [args.join(' '), args] as const))('allow kubectl %s', async (_, args) => {
    const filled = args.map((arg) => arg.replaceAll(/\b[A-Z]{3,}\b/g, (name) => placeholders[name] ?? name));
    // What changes objects is only tried, but for a restart, which has no dry run.
    const tried = /^(?:delete|scale|annotate|label)$/.test(
      filled.find((arg) => !arg.startsWith('-') && arg !== 'garden' && arg !== namespace) ?? '',
    );
    const { text } = await run([...filled, ...(tried ? ['--dry-run=server'] : [])]);
    expect(text).not.toMatch(/forbidden|unknown (?:flag|command|shorthand)|error: .*required/i);
  });

  it.each([
    ['-n', namespace, 'get', 'secrets'],
    ['-n', namespace, 'delete', 'pod', 'x'],
    ['-n', namespace, 'logs', 'x'],
    ['get', '--raw', `/api/v1/namespaces/${namespace}/pods/x:80/proxy/`],
    ['-n', 'garden', 'get', 'secrets'],
    ['-n', namespace, 'scale', 'deployment', 'kube-apiserver', '--replicas=0'],
    ['delete', 'namespace', namespace],
  ])('do not open control planes: kubectl %s %s %s', async (...args) => {
    expect((await run(args)).hasFailed).toBe(true);
  });
});
