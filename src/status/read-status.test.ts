import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { createScriptedKube } from '../../test/doubles/scripted-kube.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import type { ForwardToPod } from '../process/index.ts';
import { readSeedStatus } from './read-status.ts';
import { proberOf, shootOf } from './testing/statuses.ts';

const prefix = 'dependency-watchdog.gardener.cloud';
const heldText = JSON.stringify({ since: '2026-01-01T10:00:00Z', reason: 'why', by: 'who' });
const one = 'shoot--dev--one';
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/garden/leases/dwd-prober-leader-election';
const podsPath = '/api/v1/namespaces/garden/pods';
const configMapsPath = '/api/v1/namespaces/garden/configmaps';
const statusPath = `${podsPath}/prober-a:9644/proxy/status`;
const workloads = ['deployments', 'statefulsets'].map((name) => `/apis/apps/v1/${name}`);

const listOf = (...items: readonly unknown[]) => ({ items, metadata: {} });
const named = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'garden', uid: name, resourceVersion: '1', ...more },
});
const lease = { ...named('lead'), spec: { holderIdentity: 'prober-a_1f', leaseDurationSeconds: 15 } };
const kinds = (name: string, kind: string) => ({ name, kind, namespaced: true });

const config = (kind: string, name: string): string => `kubeConfigSecretName: probe
dependentResourceInfos:
  - ref: {apiVersion: ${kind === 'Etcd' ? 'druid.gardener.cloud/v1alpha1' : 'apps/v1'}, kind: ${kind}, name: ${name}}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;

const annotated = (
  annotations: Readonly<Record<string, string>>,
  { name = 'x', namespace = one }: { readonly name?: string; readonly namespace?: string } = {},
) =>
  named(name, {
    namespace,
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`${prefix}/${key}`, value])),
  });

const resource = (annotations: Readonly<Record<string, string>>, replicas: number) => ({
  ...annotated(annotations),
  spec: { replicas },
});

interface NamedItem {
  readonly metadata: { readonly name: string };
}

/** Applies the field selector of a list: keeps only objects with that name. An object named `x` matches any name, and gets it. */
const asAsked = (answer: unknown, { fieldSelector }: Readonly<Record<string, string>> = {}): unknown => {
  if (fieldSelector === undefined) return answer;
  const name = fieldSelector.replace('metadata.name=', '');
  const { items, ...list } = answer as { readonly items: readonly NamedItem[] };
  const fitting = items.filter(({ metadata }) => ['x', name].includes(metadata.name));
  return { ...list, items: fitting.map((item) => ({ ...item, metadata: { ...item.metadata, name } })) };
};

/** Responses of a seed with one shoot and one pod of a prober, which leads. */
const answersOf = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  [leasePath]: lease,
  [podsPath]: listOf(named('prober-a')),
  [configMapsPath]: listOf(),
  '/api/v1/namespaces': listOf(named(one), named('garden')),
  '/apis/apps/v1': {
    resources: [kinds('deployments', 'Deployment'), kinds('statefulsets', 'StatefulSet')],
  },
  '/apis/druid.gardener.cloud/v1alpha1': { resources: [kinds('etcds', 'Etcd')] },
  ...Object.fromEntries(workloads.map((path) => [path, listOf()])),
  ...given,
});

const forbidden: ForwardToPod = async () => {
  throw new ApiError({ code: 'Forbidden', message: 'pods/portforward is forbidden' });
};

const begin = (given: Readonly<Record<string, unknown>> = {}, forward = forbidden) => {
  const [clock, kube, stop] = [createVirtualClock(), createScriptedKube(), new AbortController()];
  const answers = answersOf(given);
  const options = { namespace: 'garden', selector: 'app=x', leaderTimeoutMs: 1_500, timeoutMs: 10_000 };
  const logger = createRecordingLogger();
  const run = { ...options, stop: stop.signal, env: {}, version: '1', logger };
  const status = readSeedStatus(run, {
    client: createKubeClient({ kube, clock }),
    ...{ kube, clock, userAgent: 'test', connectedTo: 'of context test', forward },
  });
  /** Request for the prober's status. It waits until the test responds. */
  let silent: ReturnType<typeof kube.take> | undefined;
  /** Responds to all other requests, also to those that follow. Returns the requested paths. */
  const answer = async (): Promise<readonly string[]> => {
    const paths: string[] = [];
    await clock.settle();
    while (kube.waiting > 0) {
      const exchange = kube.take();
      const { path } = exchange.request;
      paths.push(path);
      if (path === statusPath) silent = exchange;
      else if (path in answers) exchange.respond(200, asAsked(answers[path], exchange.request.query));
      else exchange.respond(404, { kind: 'Status', code: 404 });
      await clock.settle();
    }
    return paths;
  };
  return { clock, status, answer, prober: () => silent };
};

it('reads a prober that responds with three requests in all', async () => {
  const { answer, prober, status } = begin();
  expect(await answer()).toEqual([leasePath, podsPath, statusPath]);
  prober()?.respond(200, proberOf([shootOf('a')]));
  expect(await status).toMatchObject({ source: 'leader', total: 1, problems: [] });
  expect(await answer()).toEqual([]);
});

/** Responds to requests until the status is there. Traffic on sockets takes no virtual time. */
const answerUntil = async (status: Promise<unknown>, answer: () => Promise<unknown>): Promise<void> => {
  const isThere = status.then(() => true);
  while (!(await Promise.race([isThere, answer().then(() => false)])));
};

describe('a leader that the proxy does not reach', () => {
  it('is read through a port that is forwarded, and closed again', async () => {
    const server = createServer((_, response) => void response.end(JSON.stringify(proberOf([shootOf('a')]))));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const asked: unknown[] = [];
    const { answer, prober, status } = begin({}, async (find, { signal }) => {
      asked.push(await find(signal), signal);
      return new URL(`http://127.0.0.1:${String(port)}/`);
    });
    await answer();
    prober()?.respond(403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no pods/proxy' });
    expect(await status).toMatchObject({ source: 'leader', total: 1, problems: [] });
    expect(asked).toMatchObject([{ namespace: 'garden', pod: 'prober-a', port: 9644 }, { aborted: true }]);
    server.close();
  });

  it('is told with both reasons if no port can be forwarded either', async () => {
    const { answer, prober, status } = begin();
    await answer();
    prober()?.respond(403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no pods/proxy' });
    await answer();
    expect((await status).problems[0]).toMatch(
      /no pods\/proxy; through a forwarded port: pods\/portforward is forbidden$/,
    );
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
    throw Object.assign(new Error('listen EADDRNOTAVAIL: address not available 127.0.0.1'), { code: 'EADDRNOTAVAIL' });
  };

  it.each([
    ['nothing listens in the pod', refusedInPod, 'error forwarding port 9644 to pod prober-a: connection refused'],
    ['no port can be opened here', noPortHere, 'listen EADDRNOTAVAIL: address not available 127.0.0.1'],
  ])('is told with the true reason, and the objects are read, if %s', async (_, forward, reason) => {
    const { answer, prober, status } = begin({}, forward);
    await answer();
    prober()?.respond(403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no pods/proxy' });
    await answerUntil(status, answer);
    const { source, problems } = await status;
    expect(source).toBe('objects');
    expect(problems[0]).toMatch(new RegExp(`no pods/proxy; through a forwarded port: ${reason}$`));
  });
});

it('shows the view of a hot standby if the leader does not respond, and says why', async () => {
  const standby = { ...named('prober-b'), status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const { answer, prober, status } = begin({
    [podsPath]: listOf(named('prober-a'), standby),
    [`${podsPath}/prober-b:9644/proxy/status`]: proberOf([shootOf('a')], { leads: false, identity: 'prober-b_2' }),
  });
  await answer();
  prober()?.respond(503, { kind: 'Status', code: 503, reason: 'ServiceUnavailable', message: 'it hangs' });
  await answer();
  expect(await status).toMatchObject({
    source: 'standby',
    total: 1,
    exitCode: 2,
    problems: [expect.stringContaining('it hangs')],
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
  const pods = replicas.map((given, index) => ({ name: `prober-${'abc'.charAt(index)}`, given }));
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const { answer, prober, status } = begin({
    [leasePath]: { kind: 'Status', spec: 'not readable' },
    [podsPath]: listOf(...pods.map(({ name }) => ({ ...named(name), ...ready }))),
    ...Object.fromEntries(
      pods.map(({ name, given }) => [
        `${podsPath}/${name}:9644/proxy/status`,
        proberOf([shootOf('a')], { leads: false, identity: name, ...given }),
      ]),
    ),
  });
  await answer();
  prober()?.respond(200, proberOf([shootOf('a')], { leads: false, identity: 'prober-a', ...replicas[0] }));
  await answer();
  const told = await status;
  expect([told.source, told.prober?.identity]).toEqual([source, identity]);
});

const secondsAgo = (seconds: number): string => new Date(createVirtualClock().now() - seconds * 1_000).toISOString();

it.each([
  ['slow', -20, 3, true],
  ['fast', 60, 20, false],
])(
  'judges by the API server whether the leader renews its Lease, if the clock of its node is %s',
  async (_, wrongBy, age, isFresh) => {
    const { answer, prober, status } = begin({
      [leasePath]: {
        ...named('lead', { managedFields: [{ time: secondsAgo(age), fieldsV1: { 'f:spec': { 'f:renewTime': {} } } }] }),
        spec: { ...lease.spec, renewTime: secondsAgo(age - wrongBy) },
      },
    });
    await answer();
    prober()?.respond(503, { kind: 'Status', code: 503 });
    await answer();
    expect((await status).lease).toMatchObject({ holder: 'prober-a_1f', isFresh });
  },
);

describe('without a prober that responds', () => {
  const alone = { [podsPath]: listOf(), [leasePath]: { ...lease, spec: {} } };
  const noPod = 'no ready pod of the prober was found';
  const read = async (given: Readonly<Record<string, unknown>>) => {
    const { answer, status } = begin({ ...alone, ...given });
    const paths = await answer();
    return { paths, status: await status };
  };
  const installedText = (text: string) => ({
    [configMapsPath]: listOf({ ...named('config'), data: { 'config.yaml': text } }),
  });
  const installed = (kind: string, name: string) => installedText(config(kind, name));

  it.each([
    ['StatefulSet', '/apis/apps/v1/statefulsets'],
    ['Etcd', '/apis/druid.gardener.cloud/v1alpha1/etcds'],
  ])('finds held resources of the installed configuration, such as a %s', async (kind, path) => {
    const marked = resource({ 'meltdown-protection-active': '', held: heldText, replicas: '3' }, 0);
    const { paths, status } = await read({ ...installed(kind, 'etcd-main'), [path]: listOf(marked) });
    expect(status.shoots).toMatchObject([
      {
        namespace: one,
        state: 'held',
        since: '2026-01-01T10:00:00Z',
        reason: 'why',
        held: [{ kind, name: 'etcd-main', replicas: 3 }],
      },
    ]);
    expect(paths.filter((asked) => asked.startsWith('/apis/apps/v1/deployments'))).toEqual([]);
  });

  it("finds held resources of Gardener's default configuration if none is installed, or it cannot be read", async () => {
    const marked = resource({ 'meltdown-protection-active': '' }, 0);
    const { status } = await read({ '/apis/apps/v1/deployments': listOf(marked) });
    expect(status.shoots[0]?.held.map(({ name }) => name)).toEqual([
      'kube-controller-manager',
      'machine-controller-manager',
      'cluster-autoscaler',
    ]);
    const { status: other } = await read({
      ...installed('Nothing', ''),
      '/apis/apps/v1/deployments': listOf(marked),
    });
    expect(other.shoots[0]?.held).toHaveLength(3);
    expect(other.problems.join('\n')).toMatch(/^the configuration of the prober: .* contains no valid configuration/m);
  });

  it.each([
    [0, true],
    [2, false],
  ])('treats a resource with only a stored count, at %i replicas, as held: %s', async (replicas, isHeld) => {
    const stored = resource({ replicas: '3', 'ignore-scaling': 'true' }, replicas);
    const { status } = await read({
      ...installed('StatefulSet', 'etcd-main'),
      '/apis/apps/v1/statefulsets': listOf(stored),
    });
    expect(status.shoots.length > 0).toBe(isHeld);
  });

  it('shows no start of a pause, nor of a hold without the annotation', async () => {
    const paused = named(one, { annotations: { [`${prefix}/paused`]: JSON.stringify({ reason: 'x', by: 'y' }) } });
    const { status } = await read({ '/api/v1/namespaces': listOf(paused) });
    const next = { text: 'not known, because no prober responded' };
    const why = 'paused until it is taken back: x (y)';
    expect(status.shoots).toMatchObject([{ state: 'paused', why, next }]);
    expect(status.shoots[0]?.since).toBeUndefined();
  });

  it('shows the pause of a Namespace of any name', async () => {
    const pause = { paused: JSON.stringify({ reason: 'moved', by: 'kim' }) };
    const { status } = await read({
      '/api/v1/namespaces': listOf(annotated(pause, { name: 'lonely' }), named('garden')),
    });
    expect(status.shoots).toMatchObject([
      { namespace: 'lonely', state: 'paused', paused: { reason: 'moved', by: 'kim' } },
    ]);
  });

  describe('with resources of all clusters in one namespace', () => {
    const text = `kubeConfigSecretName: access
clusterSource: {kind: secret}
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: "{{ cluster }}-controller-manager", namespace: central}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;
    const at = (name: string, annotations: Readonly<Record<string, string>>, replicas: number) => ({
      ...annotated(annotations, { name, namespace: 'central' }),
      spec: { replicas },
    });
    const mark = (cluster: string) => ({
      'meltdown-protection-active': '',
      held: JSON.stringify({ since: '2026-01-01T10:00:00Z', reason: 'why', by: 'who', cluster }),
    });

    it('finds held resources by names that are templates, and their clusters by the annotations', async () => {
      const { status } = await read({
        ...installedText(text),
        '/apis/apps/v1/deployments': listOf(
          at('one-controller-manager', { ...mark('one'), replicas: '3' }, 0),
          at('two-controller-manager', {}, 2),
          at('three-controller-manager', { ...mark('three'), replicas: '2' }, 0),
          at('one-other', mark('one'), 0),
        ),
      });
      expect(status).toMatchObject({ problems: [noPod], total: 2, exitCode: 1 });
      expect(status.shoots).toMatchObject([
        {
          ...{ namespace: 'one', name: 'one', state: 'held', reason: 'why' },
          since: '2026-01-01T10:00:00Z',
          held: [{ kind: 'Deployment', name: 'one-controller-manager', replicas: 3 }],
        },
        { namespace: 'three', state: 'held', held: [{ name: 'three-controller-manager', replicas: 2 }] },
      ]);
      expect(status.shoots).toHaveLength(2);
    });

    it('reads the Scale of the object whose name matches the template', async () => {
      const { status } = await read({
        ...installedText(text.replace('apps/v1, kind: Deployment', 'druid.gardener.cloud/v1alpha1, kind: Etcd')),
        '/apis/druid.gardener.cloud/v1alpha1/etcds': listOf(
          at('two-controller-manager', { ...mark('two'), replicas: '3' }, 0),
        ),
        '/apis/druid.gardener.cloud/v1alpha1/namespaces/central/etcds/two-controller-manager/scale': at(
          'two-controller-manager',
          {},
          0,
        ),
      });
      expect(status.problems).toEqual([noPod]);
      expect(status.shoots).toMatchObject([
        { namespace: 'two', held: [{ kind: 'Etcd', name: 'two-controller-manager' }] },
      ]);
    });
  });

  it('tells a cluster that is no seed from one whose prober is away', async () => {
    const clusters = '/apis/extensions.gardener.cloud/v1alpha1/clusters';
    const { status } = await read({});
    expect(status).toMatchObject({ source: 'no-seed', exitCode: 2 });
    const { status: seed } = await read({ [clusters]: listOf() });
    expect(seed).toMatchObject({ source: 'objects', exitCode: 1 });
  });

  it('tells that pods cannot be listed, and not that there is none', async () => {
    const { status } = await read({ [podsPath]: { items: 'none' } });
    expect(status.problems).toEqual([expect.stringMatching(/^the pods of the prober: .*items/)]);
  });

  it('shows that the configuration pauses all shoots', async () => {
    const { status } = await read(installedText(`${config('StatefulSet', 'etcd-main')}paused: migration\n`));
    expect(status.problems).toEqual([noPod]);
    expect(status.attention).toEqual(['all shoots are paused: nothing is scaled down']);
  });
});
