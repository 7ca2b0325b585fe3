import { existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { untilAllowed } from '../../envtest/access.ts';
import { type ControlPlane, startControlPlane } from '../../envtest/control-plane.ts';
import { describeEnvtest } from '../../envtest/gate.ts';
import {
  type Kubelets,
  createDependents,
  createNodes,
  createProtectedShoot,
  startKubelets,
} from '../../envtest/shoot.ts';
import { skippedTitle } from '../../gate.ts';
import { type WaitAttempt, waitFor } from '../../envtest/waiting.ts';
import { readImageConfig } from '../../image/dockerfile.ts';
import {
  type Rootfs,
  canStartContainers,
  createRootfs,
  startContainer,
  writableByOthers,
} from '../support/container.ts';
import { applyAsGardenlet, startPod } from '../support/gardenlet.ts';
import { createPod, listPods, setCrashing, setEndpoints } from '../support/pods.ts';
import type { Program } from '../support/program.ts';

const namespace = 'shoot--test--one';
const nodes = ['node-a', 'node-b', 'node-c'];
const userOf = (component: string): string => `system:serviceaccount:garden:dependency-watchdog-${component}`;
/** The only thing that gardenlet's rights do not allow. The program works without it. */
const eventsRefused = 'the namespace refuses Events: they are left out, and tried again later';

const section = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8')
  .split(/^## /m)
  .find((text) => text.startsWith('In a Gardener seed'));
/** Returns the document's kubectl commands that grant Events. */
const documentedGrants = (): readonly (readonly string[])[] =>
  Array.from((section ?? '').matchAll(/^kubectl (create clusterrole[^\\\n]*(?:\\\n[^\n]*)?)$/gm), ([, words = '']) =>
    words.replace('\\\n', ' ').split(/ +/),
  );
/** Returns the document's kubectl commands that read objects: logs need a kubelet. */
const documentedReads = (): readonly (readonly string[])[] =>
  Array.from((section ?? '').matchAll(/^kubectl (-n garden get .*)$/gm), ([, words = '']) => words.split(' '));

const describeContainers = (name: string, tests: () => void): void => {
  if (canStartContainers) describeEnvtest(name, tests);
  else describe.skip(skippedTitle(name, 'only root may start containers here'), tests);
};

describeContainers('the image in place of the Go program, as gardenlet deploys it', () => {
  let directory: string;
  let rootfs: Rootfs;
  /** Seed, and API server of its one shoot. */
  let seed: ControlPlane;
  let kubelets: Kubelets;
  let pod: Program | undefined;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-image-'));
    rootfs = createRootfs(join(directory, 'rootfs'));
    seed = await startControlPlane({ name: 'seed', isAudited: true });
    await createNodes(seed.client, nodes);
    kubelets = startKubelets(seed.client, nodes);
    const probe = { namespace: 'kube-system', name: 'dependency-watchdog-probe' };
    const { text: kubeconfig } = await seed.serviceAccountKubeconfig(probe);
    await applyAsGardenlet(seed, 'shoot', `system:serviceaccount:${probe.namespace}:${probe.name}`);
    const secretName = 'shoot-access-dependency-watchdog-probe';
    await createProtectedShoot(seed, { namespace, kubeconfig, secretName });
    const counts = { 'kube-controller-manager': 2, 'machine-controller-manager': 3, 'cluster-autoscaler': 1 };
    await createDependents(seed.client, { namespace, nodes, counts });
    await seed.kubectl(['create', 'namespace', 'garden']);
    for (const component of ['prober', 'weeder'] as const) await applyAsGardenlet(seed, component, userOf(component));
  });

  afterEach(async () => {
    if (pod === undefined) return;
    pod.signal('SIGTERM');
    expect(await pod.ended, pod.output()).toBe(0);
    pod = undefined;
  });

  afterAll(async () => {
    pod?.signal('SIGKILL');
    await kubelets.stop();
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const run = async (component: 'prober' | 'weeder'): Promise<Program> => {
    pod = await startPod(seed, rootfs, `dependency-watchdog-${component}`);
    return pod;
  };

  const until = async <T>(what: string, look: WaitAttempt<T>): Promise<T> => {
    const hasEnded = new AbortController();
    void pod?.ended.then((code) => hasEnded.abort(new Error(`${what}: the program has ended with ${String(code)}`)));
    const wait = { what, everyMs: 100, signal: hasEnded.signal, detail: () => pod?.output() ?? '' };
    return waitFor(wait, look);
  };

  const messages = (running: Program): readonly string[] => running.lines().map(({ msg }) => msg ?? '');
  const untilTold = (running: Program, message: string) => until(message, () => messages(running).includes(message));

  const holder = async (component: string): Promise<string> => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/garden/leases/dwd-${component}-leader-election`;
    const lease = await seed.client
      .get<{ spec: { holderIdentity?: string } }>(path)
      .catch(() => ({ spec: { holderIdentity: '' } }));
    return lease.spec.holderIdentity ?? '';
  };

  /** Returns verb and path of the requests that the API server has refused. */
  const refused = (component: string): readonly string[] => [
    ...new Set(
      seed
        .requests()
        .filter(({ user, status }) => user === userOf(component) && status === 403)
        .map(({ verb, uri }) => `${verb} ${uri.split('?')[0] ?? ''}`),
    ),
  ];

  const createCrashing = async (name: string): Promise<void> => {
    const labels = { 'gardener.cloud/role': 'controlplane', role: 'apiserver' };
    const crashing = { namespace, name, labels };
    await createPod(seed.client, crashing);
    await setCrashing(seed.client, crashing, ['main']);
  };
  const untilDeleted = (name: string) =>
    until(`${name} to be deleted`, async () => {
      const found = (await listPods(seed.client, namespace)).find(({ metadata }) => metadata.name === name);
      return found?.metadata.deletionTimestamp !== undefined;
    });

  it('holds the same program under three names, and no file that anybody but root may write', async () => {
    const [entrypoint] = readImageConfig().entrypoint;
    expect(entrypoint).toBe('/usr/local/bin/dwd');
    const names = [entrypoint, '/usr/local/bin/dependency-watchdog', '/dependency-watchdog'] as const;
    const versions = names.map((name) => startContainer({ rootfs, command: [name ?? '', 'version'] }));
    expect(await Promise.all(versions.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    const [first = '', ...others] = versions.map((program) => program.stdout());
    expect(first).toMatch(/^dwd /);
    expect(others).toEqual([first, first]);
    // V8 stores a text with any character beyond Latin-1 in two bytes per character.
    const lib = join(rootfs.directory, 'usr/local/lib/dependency-watchdog');
    const program = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter(
      (file) => /^[^/]+\.js$|^chunks/.test(file) && file !== 'chunks',
    );
    expect(program.length).toBeGreaterThan(10);
    for (const file of program) {
      const text = readFileSync(join(lib, file), 'utf8');
      expect([file, text.search(/[^\0-\xff]/), /simulator\/|x509/.test(file)]).toEqual([file, -1, false]);
    }
    expect(existsSync(join(lib, 'page/index.html'))).toBe(true);
    expect(['usr/local', 'usr/share'].flatMap((path) => writableByOthers(join(rootfs.directory, path)))).toEqual([]);
  });

  it("starts without Node's second HTTP client, which would cost a quarter of the start's CPU time", async () => {
    const script = 'process.once("exit", () => console.log(process.moduleLoadList.join()))';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
    const program = startContainer({ rootfs, command: ['/usr/local/bin/dwd', 'version'], env });
    expect(await program.ended).toBe(0);
    expect(program.stdout()).toContain('internal/modules/cjs/loader');
    expect(program.stdout()).not.toContain('undici');
  });

  it('leads and weeds without the right to write Events, as another user without privileges, in /, without a home, on a read-only file system', async () => {
    await setEndpoints(seed.client, { namespace, service: 'etcd-main-client', ready: [false] });
    await createCrashing('kube-apiserver-1');
    const running = await run('weeder');
    await until('the weeder to lead', async () => (await holder('weeder')) !== '');
    await setEndpoints(seed.client, { namespace, service: 'etcd-main-client', ready: [true] });
    await untilDeleted('kube-apiserver-1');
    await untilTold(running, eventsRefused);
    await untilTold(running, 'no right is missing');
    expect(refused('weeder')).toEqual([`create /api/v1/namespaces/${namespace}/events`]);

    const proc = (name: string): string => readFileSync(`/proc/${String(running.pid)}/${name}`, 'utf8');
    const status = proc('status');
    expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
    expect(status).toMatch(/^Gid:\t65532\t65532\t65532\t65532$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(readlinkSync(`/proc/${String(running.pid)}/cwd`)).toBe(readlinkSync(`/proc/${String(running.pid)}/root`));
    const [root] = proc('mountinfo')
      .split('\n')
      .filter((line) => line.split(' ')[4] === '/');
    expect(root?.split(' ')[5]).toMatch(/^ro,/);
    expect(
      proc('environ')
        .split('\0')
        .filter((variable) => variable.startsWith('HOME=')),
    ).toEqual([]);
  });

  it('leads and probes', async () => {
    const running = await run('prober');
    await until('the prober to lead', async () => (await holder('prober')) !== '');
    await untilTold(running, 'no right is missing');
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    await until('a probe', () => seed.requests().some(({ uri, status }) => uri === leases && status === 200));
    // Leases of other namespaces show other installations; without the right nobody looks for them.
    expect(refused('prober')).toEqual(['list /apis/coordination.k8s.io/v1/leases']);
    expect(running.lines().filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('writes Events with the rights that docs/install.md grants, and is found by its command', async () => {
    await createCrashing('kube-apiserver-2');
    expect(documentedGrants()).toHaveLength(2);
    for (const command of documentedGrants()) await seed.kubectl(command);
    const weeder = { user: userOf('weeder'), groups: ['system:authenticated'] };
    await untilAllowed(seed.client, weeder, { apiGroups: [''], resources: ['events'], verbs: ['create'], namespace });
    await run('weeder');
    await untilDeleted('kube-apiserver-2');
    await until('an Event', async () => {
      const events = await seed.kubectl(['-n', namespace, 'get', 'events']);
      return events.includes('pod/kube-apiserver-2');
    });
    expect(pod?.output()).not.toContain(eventsRefused);
    expect(await Promise.all(documentedReads().map((command) => seed.kubectl(command)))).toEqual([
      expect.stringContaining('example.org/dwd:latest'),
    ]);
  });
});
