import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type SimApiServer,
  type SimKind,
  bodyOf,
  createSimApiServer,
  failure,
  simKinds,
} from '../../simulator/apiserver/index.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/index.ts';
import { kubeconfigOf } from '../../test/doubles/kubeconfig.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../test/doubles/temporary-directory.ts';
import { startTestServer } from '../../test/doubles/test-server.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { Kube, KubeResponse } from '../kubernetes/api/kube.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import type { ForwardToPod } from '../process/index.ts';
import { readSeedStatus, readStatus } from './read-status.ts';
import { proberOf, shootOf } from './testing/statuses.ts';

const prefix = 'dependency-watchdog.gardener.cloud';
const one = 'shoot--dev--one';
const heldText = { since: '2026-01-01T10:00:00Z', reason: 'why', by: 'who' };

let clock: VirtualClock;
let seed: SimApiServer;
const startSeed = (kinds: readonly SimKind[] = Object.values(simKinds)): void => {
  clock = createVirtualClock();
  seed = createSimApiServer({ clock, kinds, namespaces: ['garden', one] });
};
beforeEach(() => startSeed());

const putPod = (name: string): unknown =>
  seed.store.put(simKinds.Pod, {
    metadata: { name, namespace: 'garden', labels: { app: 'x' } },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });

const annotationsOf = (short: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(short).map(([key, value]) => [`${prefix}/${key}`, value]));

/** Puts a resource that a prober holds, at 0 unless somebody has scaled it up. */
const putHeld = (
  kind: SimKind,
  at: { readonly name: string; readonly namespace?: string },
  { cluster, replicas = 0 }: { readonly cluster?: string; readonly replicas?: number } = {},
): unknown =>
  seed.store.put(kind, {
    metadata: {
      ...{ namespace: one, ...at },
      annotations: annotationsOf({
        ...{ 'meltdown-protection-active': '', replicas: '3' },
        held: JSON.stringify({ ...heldText, cluster }),
      }),
    },
    spec: { replicas },
  });

const pause = (namespace: string, until?: string): unknown =>
  seed.store.put(simKinds.Namespace, {
    metadata: {
      name: namespace,
      annotations: annotationsOf({ paused: JSON.stringify({ until, reason: 'moved', by: 'kim' }) }),
    },
  });

const configOf = (ref: string, source = ''): string => `kubeConfigSecretName: probe
${source}dependentResourceInfos:
  - ref: {${ref}}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;

const install = (text: string): unknown =>
  seed.store.put(simKinds.ConfigMap, {
    metadata: {
      ...{ name: 'config', namespace: 'garden' },
      labels: { 'app.kubernetes.io/name': 'dependency-watchdog', 'app.kubernetes.io/component': 'prober' },
    },
    data: { 'config.yaml': text },
  });

const refusal = failure({ code: 403, reason: 'Forbidden', message: 'no pods/proxy' });

const responseOf = (answer: object): KubeResponse => ({
  status: answer === refusal ? 403 : 200,
  headers: {},
  body: bodyOf(Buffer.from(JSON.stringify(answer))),
});

const forbidden: ForwardToPod = async () => {
  throw new ApiError({ code: 'Forbidden', message: 'pods/portforward is forbidden' });
};

/** Reads the status. `proxied`: what requests with this end of their paths get instead of the seed's answer. */
const read = async (proxied: Readonly<Record<string, object>> = {}, forward = forbidden, shoot?: string) => {
  const paths: string[] = [];
  const kube: Kube = {
    request: async (request) => {
      paths.push(request.path);
      const [, answer] = Object.entries(proxied).find(([end]) => request.path.endsWith(end)) ?? [];
      return answer === undefined ? seed.request(request) : responseOf(answer);
    },
  };
  const query = { shoot, namespace: 'garden', selector: 'app=x', leaderTimeoutMs: 1_500 };
  const { signal } = new AbortController();
  const status = await readSeedStatus(query, {
    ...{ client: createKubeClient({ kube, clock }), kube, clock, userAgent: 'test', forward, deadline: Infinity },
    ...{ signal, options: { signal, timeoutMs: 10_000 }, progress: () => undefined },
    access: { context: 'test', endpoint: { protocol: 'https:', host: 'test', port: 443, basePath: '' } },
  });
  return { ...status, paths };
};

const proxyOf = (pod: string): string => `/pods/${pod}:9644/proxy/status`;

describe('with a leader', () => {
  beforeEach(() => {
    putPod('prober-a');
    seed.store.put(simKinds.Lease, {
      metadata: { name: 'dwd-prober-leader-election', namespace: 'garden' },
      spec: { holderIdentity: 'prober-a_1f', leaseDurationSeconds: 15, renewTime: new Date(clock.now()).toISOString() },
    });
  });

  it('reads its status with three requests in all', async () => {
    const { paths, ...status } = await read({ [proxyOf('prober-a')]: proberOf([shootOf('a')]) });
    // Ages are by the clock of the prober.
    expect(status).toMatchObject({ at: proberOf([]).at, source: 'leader', total: 1, problems: [] });
    expect(paths.map((path) => path.slice(path.lastIndexOf('/')))).toEqual([
      '/dwd-prober-leader-election',
      '/pods',
      '/status',
    ]);
  });

  describe('that the proxy does not reach', () => {
    const refused = { [proxyOf('prober-a')]: refusal };

    it('reads it through a port that is forwarded, and closed again', async () => {
      const server = createServer((_, response) => void response.end(JSON.stringify(proberOf([shootOf('a')]))));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const asked: unknown[] = [];
      const status = await read(refused, async (find, { signal }) => {
        asked.push(await find(signal), signal);
        return new URL(`http://127.0.0.1:${String(port)}/`);
      });
      expect(status).toMatchObject({ source: 'leader', total: 1, problems: [] });
      expect(asked).toMatchObject([{ namespace: 'garden', pod: 'prober-a', port: 9644 }, { aborted: true }]);
      server.close();
    });

    /** A forwarded port whose other end refuses the connection, as `forwardPort` tells it. */
    const refusedInPod: ForwardToPod = async (_, { signal, onProblem }) => {
      const server = createServer((request) => {
        onProblem?.(new Error('error forwarding port 9644 to pod prober-a: connection refused'));
        request.socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      signal.addEventListener('abort', () => server.close());
      const { port } = server.address() as AddressInfo;
      return new URL(`http://127.0.0.1:${String(port)}/`);
    };
    const noPortHere: ForwardToPod = async () => {
      throw Object.assign(new Error('listen EADDRNOTAVAIL: address not available 127.0.0.1'), {
        code: 'EADDRNOTAVAIL',
      });
    };

    it.each([
      ['no port can be forwarded', forbidden, 'pods/portforward is forbidden'],
      ['nothing listens in the pod', refusedInPod, 'error forwarding port 9644 to pod prober-a: connection refused'],
      ['no port can be opened here', noPortHere, 'listen EADDRNOTAVAIL: address not available 127.0.0.1'],
    ])('tells both reasons, and reads the objects, if %s', async (_, forward, reason) => {
      const { source, problems } = await read(refused, forward);
      expect(source).toBe('objects');
      expect(problems[0]).toMatch(new RegExp(`no pods/proxy; through a forwarded port: ${reason}$`));
    });
  });

  it('shows the view of a hot standby if it does not respond, and says why', async () => {
    putPod('prober-b');
    const standby = proberOf([shootOf('a')], { leads: false, identity: 'prober-b_2' });
    const status = await read({ [proxyOf('prober-a')]: refusal, [proxyOf('prober-b')]: standby });
    expect(status).toMatchObject({
      ...{ source: 'standby', total: 1, exitCode: 2, lease: { isForeign: true } },
      problems: [expect.stringContaining('no pods/proxy')],
    });
  });

  it.each([
    ['slow', -20, 3, true],
    ['fast', 60, 20, false],
  ])('judges by the API server whether it renews its Lease, if the clock of its node is %s', async (...row) => {
    const [, wrongBy, age, isFresh] = row;
    const secondsAgo = (seconds: number): string => new Date(clock.now() - seconds * 1_000).toISOString();
    const managedFields = [{ time: secondsAgo(age), fieldsV1: { 'f:spec': { 'f:renewTime': {} } } }];
    const lease = {
      metadata: { name: 'lead', namespace: 'garden', uid: 'lead', managedFields },
      spec: { holderIdentity: 'prober-a_1f', leaseDurationSeconds: 15, renewTime: secondsAgo(age - wrongBy) },
    };
    const status = await read({ [proxyOf('prober-a')]: refusal, '/dwd-prober-leader-election': lease });
    expect(status.lease).toMatchObject({ holder: 'prober-a_1f', isFresh });
  });
});

it.each([
  [
    'the leader, even if others are asked before it',
    [{ standby: 'cold' }, { standby: 'hot' }, { leads: true }],
    'leader',
    'prober-c',
  ],
  ['a hot standby, and no cold one, if none leads', [{ standby: 'cold' }, { standby: 'hot' }], 'standby', 'prober-b'],
  ['no cold standby', [{ standby: 'cold' }], 'objects', undefined],
] as const)('takes without a Lease the answer of %s', async (_, replicas, source, identity) => {
  const answers = replicas.map((given, index) => {
    const name = `prober-${'abc'.charAt(index)}`;
    putPod(name);
    return [proxyOf(name), proberOf([shootOf('a')], { leads: false, identity: name, ...given })] as const;
  });
  const status = await read({
    '/dwd-prober-leader-election': { spec: 'not readable' },
    ...Object.fromEntries(answers),
  });
  expect([status.source, status.prober?.identity]).toEqual([source, identity]);
});

describe('without a prober', () => {
  const noPod = 'no ready pod of the prober was found';

  it.each([
    ['StatefulSet', 'apps/v1'],
    ['Etcd', 'druid.gardener.cloud/v1alpha1'],
  ] as const)('finds held resources of the installed configuration, such as a %s', async (kind, apiVersion) => {
    install(configOf(`apiVersion: ${apiVersion}, kind: ${kind}, name: etcd-main`));
    putHeld(simKinds[kind], { name: 'etcd-main' });
    const { shoots, paths } = await read();
    expect(shoots).toMatchObject([
      {
        ...{ namespace: one, state: 'held', since: '2026-01-01T10:00:00Z', reason: 'when scaled down: why' },
        held: [{ kind, name: 'etcd-main', replicas: 3 }],
      },
    ]);
    expect(paths).not.toContain('/apis/apps/v1/deployments');
  });

  it("finds those of Gardener's default configuration if none is installed, or it cannot be read", async () => {
    const names = ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'];
    for (const name of names) putHeld(simKinds.Deployment, { name });
    expect((await read()).shoots[0]?.held.map(({ name }) => name)).toEqual(names);
    install(configOf("apiVersion: apps/v1, kind: Nothing, name: ''"));
    const { shoots, problems } = await read();
    expect(shoots[0]?.held).toHaveLength(3);
    putHeld(simKinds.Deployment, { name: names[0]! }, { replicas: 2 });
    expect((await read()).shoots[0]?.held.map(({ name }) => name)).toEqual(names.slice(1));
    expect(problems.join('\n')).toMatch(/^the configuration of the prober: .* contains no valid configuration/m);
  });

  it('shows the pause of a Namespace of any name, without its start', async () => {
    pause('lonely');
    const { shoots } = await read();
    expect(shoots).toMatchObject([
      {
        ...{ namespace: 'lonely', state: 'paused', paused: { reason: 'moved', by: 'kim' } },
        ...{
          why: 'paused until it is taken back: moved (kim)',
          next: { text: 'not known, because no prober responded' },
        },
      },
    ]);
    expect(shoots[0]?.since).toBeUndefined();
  });

  it('shows one shoot, by any of its names, and says if there is none', async () => {
    seed.store.put(simKinds.Cluster, {
      metadata: { name: 'technical' },
      spec: { shoot: { metadata: { name: 'two', namespace: 'garden-dev' } } },
    });
    pause('technical');
    pause(one);
    const shown = async (shoot: string) => (await read({}, forbidden, shoot)).shoots.map(({ namespace }) => namespace);
    expect(await shown('dev/two')).toEqual(['technical']);
    await expect(shown('dev/tow')).rejects.toThrow('did you mean dev/two (technical)?');
  });

  it('shows of two pauses the one that ends later, as the prober takes it', async () => {
    pause('lonely', new Date(clock.now() + 60_000).toISOString());
    pause('garden');
    expect((await read()).shoots).toMatchObject([
      { why: 'paused until it is taken back: moved (kim)', do: 'to end the pause: dwd resume --all' },
    ]);
  });

  describe('with resources of all clusters in one namespace', () => {
    const place = 'name: "{{ cluster }}-controller-manager", namespace: central';
    const source = 'clusterSource: {kind: secret}\n';

    it('finds held resources by names that are templates, and their clusters by the annotations', async () => {
      install(configOf(`apiVersion: apps/v1, kind: Deployment, ${place}`, source));
      const at = (name: string) => ({ name, namespace: 'central' });
      putHeld(simKinds.Deployment, at('one-controller-manager'), { cluster: 'one' });
      putHeld(simKinds.Deployment, at('three-controller-manager'), { cluster: 'three' });
      putHeld(simKinds.Deployment, at('one-other'), { cluster: 'one' });
      seed.store.put(simKinds.Deployment, { metadata: at('two-controller-manager'), spec: { replicas: 2 } });
      const status = await read();
      expect(status).toMatchObject({ problems: [noPod], total: 2, exitCode: 1 });
      expect(status.shoots.map(({ namespace, held }) => [namespace, held.map(({ name }) => name)])).toEqual([
        ['one', ['one-controller-manager']],
        ['three', ['three-controller-manager']],
      ]);
    });

    it('reads the Scale of the object whose name matches the template', async () => {
      install(configOf(`apiVersion: druid.gardener.cloud/v1alpha1, kind: Etcd, ${place}`, source));
      putHeld(simKinds.Etcd, { name: 'two-controller-manager', namespace: 'central' }, { cluster: 'two' });
      const { shoots, problems } = await read();
      expect(problems).toEqual([noPod]);
      expect(shoots).toMatchObject([{ namespace: 'two', held: [{ kind: 'Etcd', name: 'two-controller-manager' }] }]);
    });
  });

  it('tells a cluster that is no seed from one whose prober is away', async () => {
    expect(await read()).toMatchObject({ source: 'objects', exitCode: 1 });
    startSeed(Object.values(simKinds).filter((kind) => kind !== simKinds.Cluster));
    expect(await read()).toMatchObject({ source: 'no-seed', exitCode: 2 });
  });

  it('tells that pods cannot be listed, and not that there is none', async () => {
    const { problems } = await read({ '/namespaces/garden/pods': refusal });
    expect(problems).toEqual([expect.stringMatching(/^the pods of the prober: .*403/)]);
  });

  it('shows that the configuration pauses all shoots', async () => {
    install(`${configOf('apiVersion: apps/v1, kind: StatefulSet, name: etcd-main')}paused: {reason: migration}\n`);
    const { problems, attention } = await read();
    expect(problems).toEqual([noPod]);
    expect(attention).toEqual(['all shoots are paused: nothing is scaled down']);
  });
});

it('is interrupted, which is no bug, when the user stops it while the API server is silent', async () => {
  const stop = new AbortController();
  const api = await startTestServer({ handler: () => stop.abort(new Error('received SIGINT')) });
  const kubeconfig = join(temporaryDirectory(), 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf({ server: `http://127.0.0.1:${String(api.port)}` }));
  const interrupted = readStatus({
    ...{ namespace: 'garden', selector: 'app=x', leaderTimeoutMs: 60_000, timeoutMs: 60_000, kubeconfig, env: {} },
    ...{ version: '1', logger: createRecordingLogger(), progress: () => undefined, stop: stop.signal },
  });
  await expect(interrupted).rejects.toMatchObject({
    name: 'CommandError',
    exitCode: 2,
    message: 'interrupted before it was finished',
  });
  await api.close();
});
