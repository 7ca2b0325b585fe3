import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { findBinaries } from '../envtest/binaries.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { runKubectl } from '../envtest/kubectl.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type ServedDemoWorld, serveDemoWorld } from './support/demo-world.ts';

const alpha = 'shoot--sim--alpha';
const etcdAnnotation = 'simulation.dependency-watchdog.gardener.cloud/etcd';

const commandOf = (): string => {
  const binaries = findBinaries();
  if (!binaries.ok) throw new Error(binaries.remedy);
  return binaries.path('kubectl');
};

/** Runs the real kubectl against the demo's world. */
describeEnvtest('kubectl in the demo', () => {
  let world: ServedDemoWorld;
  let directory = '';

  /** Runs kubectl. `server` is `seed` or the name of a shoot. */
  const kubectl = (server: string, ...args: readonly string[]): Promise<string> =>
    runKubectl({
      command: commandOf(),
      kubeconfig: join(directory, `${server}.kubeconfig`),
      directory,
      args,
    });

  beforeAll(async () => {
    // Without watchdogs, only kubectl changes the world.
    directory = mkdtempSync(join(tmpdir(), 'dwd-demo-world-'));
    world = await serveDemoWorld(directory);
  });
  afterAll(async () => {
    await world.close();
    rmSync(directory, { recursive: true });
  });

  it('gets objects, annotates them, and watches the effect', async () => {
    expect(await kubectl('seed', 'get', 'clusters', '-o', 'name')).toContain(`/${alpha}\n`);
    const nodes = (): Promise<string> => kubectl('alpha', 'get', 'nodes', '-o', 'name');
    expect((await nodes()).trim().split('\n')).toHaveLength(5);
    // The simulated server prints no columns.
    expect(await kubectl('alpha', 'get', 'nodes')).toMatch(/^NAME +AGE\n/);

    const watched = ['get', 'pods', '--all-namespaces', '--watch', '--output-watch-events'];
    const watch = spawn(commandOf(), [...watched, '--kubeconfig', join(directory, 'seed.kubeconfig')], {
      env: { HOME: directory, KUBERC: 'off' },
    });
    let seen = '';
    watch.stdout.setEncoding('utf8').on('data', (chunk: string) => (seen += chunk));
    onTestFinished(() => void watch.kill());
    const annotate = (change: string): Promise<string> => kubectl('seed', 'annotate', 'cluster', alpha, change);
    const untilReady = (is: 'True' | 'False'): Promise<string> => {
      const apiServer = ['pod', '-l', 'role=apiserver', '-n', alpha];
      return kubectl('seed', 'wait', ...apiServer, `--for=condition=Ready=${is}`, '--timeout=5m');
    };
    await waitFor({ what: 'the watch has begun' }, () => seen.includes('ADDED'));
    await annotate(`${etcdAnnotation}=down`);
    await waitFor({ what: 'the watch tells of a change' }, () =>
      /MODIFIED +shoot--sim--alpha +kube-apiserver-\S+ /.test(seen),
    );
    await untilReady('False');
    await expect(nodes()).rejects.toThrow(/refused|reset|EOF/);
    await annotate(`${etcdAnnotation}-`);
    await untilReady('True');
    expect((await nodes()).trim().split('\n')).toHaveLength(5);
  });
});
