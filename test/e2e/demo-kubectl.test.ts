import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnvtest, findBinaries, runKubectl } from '../envtest/index.ts';
import { endDemos, type Show, startDemo, until } from './support/demo.ts';

const alpha = 'shoot--sim--alpha';
const etcdAnnotation = 'simulation.dependency-watchdog.gardener.cloud/etcd';

const commandOf = (): string => {
  const binaries = findBinaries();
  if (!binaries.ok) throw new Error(binaries.remedy);
  return binaries.path('kubectl');
};

/** The cells of each line that kubectl prints as a table. */
const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));

/** The real kubectl against the world that the demo serves. */
describeEnvtest('kubectl in the demo', () => {
  let show: Show;
  let directory = '';

  /** `server`: seed or the name of a shoot. */
  const kubectl = (server: string, ...args: readonly string[]): Promise<string> =>
    runKubectl({
      command: commandOf(),
      kubeconfig: join(directory, `${server}.kubeconfig`),
      directory: show.directory,
      args,
    });

  beforeAll(async () => {
    // Without watchdogs nothing but kubectl changes the world.
    directory = mkdtempSync(join(tmpdir(), 'dwd-demo-world-'));
    show = startDemo(`--serve-world=${directory}`);
    await until(() => show.output().includes('\n'), 'the world is served');
  });
  afterAll(async () => {
    show.process.stdin?.end();
    await show.exit;
    await endDemos();
    rmSync(directory, { recursive: true });
  });

  it('gets the shoots and what they consist of', async () => {
    expect(await kubectl('seed', 'get', 'clusters', '-o', 'name')).toContain(`/${alpha}\n`);
    const deployments = await kubectl('seed', 'get', 'deployments', '-n', 'shoot--sim--charlie', '-o', 'name');
    expect(deployments.trim().split('\n')).toHaveLength(7);
    const pods = await kubectl('seed', 'get', 'pods', '-n', 'shoot--sim--charlie', '-l', 'role=main', '-o', 'name');
    expect(pods).toBe('pod/etcd-main-0\n');
    expect((await kubectl('alpha', 'get', 'nodes', '-o', 'name')).trim().split('\n')).toHaveLength(5);
    const renewTime = '{.items[*].spec.renewTime}';
    const leases = await kubectl('charlie', 'get', 'leases', '-n', 'kube-node-lease', '-o', `jsonpath=${renewTime}`);
    expect(leases.split(' ')).toHaveLength(5);
  });

  it('shows their state at a glance, as the API server prints it', async () => {
    const nodes = await kubectl('charlie', 'get', 'nodes');
    expect(rowsOf(nodes)[0]).toEqual(['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION']);
    expect(
      rowsOf(nodes)
        .slice(1)
        .map(([, status]) => status),
    ).toEqual(Array(5).fill('Ready'));
    const deployment = ['deployment', '-n', 'shoot--sim--charlie', 'kube-controller-manager'];
    const manager = rowsOf(await kubectl('seed', 'get', ...deployment));
    expect(manager[0]).toEqual(['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE']);
    expect(manager[1]?.slice(0, 4)).toEqual(['kube-controller-manager', '2/2', '2', '2']);
    const wide = rowsOf(await kubectl('seed', 'get', ...deployment, '--output', 'wide'));
    expect(wide[1]?.at(-1)).toBe('app=kubernetes,role=controller-manager');
    const everything = await kubectl('seed', 'get', 'all', '--all-namespaces');
    expect(everything).toMatch(/^shoot--sim--charlie +pod\/etcd-main-0 +1\/1 +Running +0 +\w+$/m);
    expect(everything).toMatch(/^shoot--sim--charlie +statefulset\.apps\/etcd-main +1\/1 /m);
    const machines = await kubectl('seed', 'get', 'machines', '-n', 'shoot--sim--charlie');
    expect(rowsOf(machines)[1]?.slice(0, 2)).toEqual(['shoot--sim--charlie-worker-1', 'Running']);
  });

  it('makes, scales and deletes', async () => {
    const namespace = ['--namespace', 'default'];
    await kubectl('seed', 'create', 'deployment', 'mine', ...namespace, '--image=none', '--replicas=2');
    await kubectl('seed', 'scale', 'deployment', 'mine', ...namespace, '--replicas=3');
    const scale = rowsOf(await kubectl('seed', 'get', 'deployment', 'mine', ...namespace, '--subresource=scale'));
    expect(scale[1]?.slice(0, 2)).toEqual(['mine', '3']);
    await kubectl('seed', 'create', 'configmap', 'mine', ...namespace, '--from-literal=a=b');
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: 'b' } };
    const file = join(directory, 'applied.json');
    writeFileSync(file, JSON.stringify(applied));
    expect(await kubectl('seed', 'apply', ...namespace, `--filename=${file}`)).toBe('configmap/applied created\n');
    expect(await kubectl('seed', 'apply', ...namespace, `--filename=${file}`)).toBe('configmap/applied unchanged\n');
    await kubectl('seed', 'delete', ...namespace, `--filename=${file}`);
    expect(rowsOf(await kubectl('seed', 'get', 'configmaps', ...namespace))[1]?.slice(0, 2)).toEqual(['mine', '1']);
    await kubectl('seed', 'delete', 'deployment,configmap', 'mine', ...namespace);
    expect(await kubectl('seed', 'get', 'deployments,configmaps', ...namespace)).toBe('');
    await kubectl('alpha', 'cordon', `${alpha}-worker-1`);
    const cordoned = await kubectl('alpha', 'get', 'nodes', `${alpha}-worker-1`);
    expect(rowsOf(cordoned)[1]?.[1]).toBe('Ready,SchedulingDisabled');
    await kubectl('alpha', 'uncordon', `${alpha}-worker-1`);
  });

  it('says what the simulation does not have', async () => {
    await expect(kubectl('seed', 'top', 'nodes')).rejects.toThrow('Metrics API not available');
    expect(await kubectl('seed', 'explain', 'pods')).toContain('The simulated API server describes no fields.');
    await expect(kubectl('seed', 'auth', 'can-i', 'delete', 'pods')).rejects.toThrow(
      'could not find the requested resource',
    );
    await expect(kubectl('seed', 'get', 'nonsense')).rejects.toThrow(`doesn't have a resource type "nonsense"`);
  });

  it('describes a Deployment and a node', async () => {
    const manager = await kubectl(
      'seed',
      'describe',
      'deployment',
      '-n',
      'shoot--sim--charlie',
      'kube-controller-manager',
    );
    expect(manager).toMatch(/Replicas: +2 desired \| 2 updated \| 2 total \| 2 available/);
    expect(manager).toMatch(/NewReplicaSet: +kube-controller-manager-\w+ \(2\/2 replicas created\)/);
    const node = await kubectl('charlie', 'describe', 'node', 'shoot--sim--charlie-worker-1');
    expect(node).toMatch(/Ready +True .*KubeletReady/);
    expect(node).toMatch(/HolderIdentity: +shoot--sim--charlie-worker-1/);
  });

  it('annotates, and watches what comes of it', async () => {
    const watch = spawn(
      commandOf(),
      [
        'get',
        'pods',
        '--all-namespaces',
        '--watch',
        '--output-watch-events',
        '--kubeconfig',
        join(directory, 'seed.kubeconfig'),
      ],
      { env: { HOME: show.directory, KUBERC: 'off' } },
    );
    let seen = '';
    watch.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
    });
    const ended = new Promise((resolve) => watch.once('close', resolve));
    try {
      await until(() => seen.includes('ADDED'), 'the watch has begun');
      await kubectl('seed', 'annotate', 'cluster', alpha, `${etcdAnnotation}=down`);
      await until(
        () => /MODIFIED +shoot--sim--alpha +kube-apiserver-\S+ +0\/1 /.test(seen),
        'the watch tells that kube-apiserver is not ready',
      );
    } finally {
      watch.kill();
      await ended;
    }
    await kubectl(
      'seed',
      'wait',
      '-n',
      alpha,
      '--for=condition=Ready=False',
      'pod',
      '-l',
      'role=apiserver',
      '--timeout=20s',
    );
    await expect(kubectl('alpha', 'get', 'nodes')).rejects.toThrow(/refused|reset|EOF/);
    await kubectl('seed', 'annotate', 'cluster', alpha, `${etcdAnnotation}-`);
    await kubectl('seed', 'wait', '-n', alpha, '--for=condition=Ready', 'pod', '-l', 'role=apiserver', '--timeout=60s');
    expect((await kubectl('alpha', 'get', 'nodes', '-o', 'name')).trim().split('\n')).toHaveLength(5);
  });
});
