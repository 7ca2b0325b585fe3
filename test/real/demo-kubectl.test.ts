import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findBinaries } from '../envtest/binaries.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { runKubectl } from '../envtest/kubectl.ts';
import { type Show, endDemos, startDemo, until } from './support/demo.ts';

const alpha = 'shoot--sim--alpha';
const etcdAnnotation = 'simulation.dependency-watchdog.gardener.cloud/etcd';

const commandOf = (): string => {
  const binaries = findBinaries();
  if (!binaries.ok) throw new Error(binaries.remedy);
  return binaries.path('kubectl');
};

/** Returns the cells of each line of a table of kubectl. */
const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));

/** Runs the real kubectl against the demo's world. */
describeEnvtest('kubectl in the demo', () => {
  let show: Show;
  let directory = '';

  /** Runs kubectl. `server` is `seed` or the name of a shoot. */
  const kubectl = (server: string, ...args: readonly string[]): Promise<string> =>
    runKubectl({
      command: commandOf(),
      kubeconfig: join(directory, `${server}.kubeconfig`),
      directory: show.directory,
      args,
    });

  beforeAll(async () => {
    // Without watchdogs, only kubectl changes the world.
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

  it('gets the shoots and their objects', async () => {
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

  it('shows only names and ages, because the simulated server prints no columns', async () => {
    const rows = rowsOf(await kubectl('charlie', 'get', 'nodes'));
    expect(rows[0]).toEqual(['NAME', 'AGE']);
    expect(rows).toHaveLength(6);
  });

  it('annotates, and watches the effect', async () => {
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
        () => /MODIFIED +shoot--sim--alpha +kube-apiserver-\S+ /.test(seen),
        'the watch tells of a change of kube-apiserver',
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
