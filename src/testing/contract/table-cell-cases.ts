import { expect } from 'vitest';
import { type JsonMap, type SimKind, simKinds } from '../../sim/index.ts';
import { type Api, createApi } from './api.ts';
import { expectObject, made } from './expectations.ts';
import {
  cluster,
  containerStatus,
  endpointSlice,
  event,
  lease,
  machine,
  node,
  pod,
  service,
  statefulSet,
  watermill,
  workload,
} from './fixtures.ts';
import { asTable, cellsOf, getTable, headerOf, recent } from './tables.ts';
import { topic } from './target.ts';

const { Cluster, ConfigMap, Deployment, Endpoints, EndpointSlice, Etcd, Event, Lease, Machine } = simKinds;
const { Namespace, Node, Pod, ReplicaSet, Secret, Service, StatefulSet, Watermill } = simKinds;

const columns: readonly (readonly [kind: SimKind, header: string])[] = [
  [Namespace, 'Name (name), Status, Age'],
  [Secret, 'Name (name), Type, Data, Age'],
  [ConfigMap, 'Name (name), Data, Age'],
  [
    Node,
    'Name (name), Status, Roles, Age, Version, Internal-IP +wide, External-IP +wide, OS-Image +wide, Kernel-Version +wide, Container-Runtime +wide',
  ],
  [Pod, 'Name (name), Ready, Status, Restarts, Age, IP +wide, Node +wide, Nominated Node +wide, Readiness Gates +wide'],
  [Service, 'Name (name), Type, Cluster-IP, External-IP, Port(s), Age, Selector +wide'],
  [
    Event,
    'Last Seen, Type, Reason, Object, Subobject +wide, Source +wide, Message, First Seen +wide, Count +wide, Name (name) +wide',
  ],
  [Lease, 'Name (name), Holder, Age'],
  [Deployment, 'Name (name), Ready, Up-to-date, Available, Age, Containers +wide, Images +wide, Selector +wide'],
  [StatefulSet, 'Name (name), Ready, Age, Containers +wide, Images +wide'],
  [
    ReplicaSet,
    'Name (name), Desired: integer, Current: integer, Ready: integer, Age, Containers +wide, Images +wide, Selector +wide',
  ],
  [Endpoints, 'Name (name), Endpoints, Age'],
  [EndpointSlice, 'Name (name), AddressType, Ports, Endpoints, Age'],
  [Cluster, 'Name (name), Age: date'],
  [Etcd, 'Name (name), Age: date'],
  [Machine, 'Name (name), Status, Age: date, Node, ProviderID +wide'],
  [Watermill, 'Name (name), Stones: integer, Flow: number, Open: boolean, Built: date, Ready +wide'],
];

export const tableColumnCases = topic('table columns', {
  'are those of each kind': async (target) => {
    const api = createApi(target);
    for (const [kind, header] of columns) {
      expect([kind.kind, headerOf(await getTable(api, api.at(kind)))]).toEqual([kind.kind, header]);
    }
  },

  'are there where an object has nothing to show': async (target) => {
    const api = createApi(target);
    const query = {
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      fieldSelector: 'metadata.name=nobody',
    };
    for (const [kind, cells] of empty) {
      const watcher = await api.watch(api.at(kind), query, asTable);
      const [event] = await watcher.take(1);
      await watcher.close();
      expect([kind.kind, event!.type, ...cellsOf(event!.object)]).toEqual([kind.kind, 'BOOKMARK', ...cells]);
    }
  },
});

const unknown = '<unknown>';
const none = '<none>';

/** What a bookmark shows: the cells of an object that has nothing. */
const empty: readonly (readonly [kind: SimKind, cells: readonly unknown[]])[] = [
  [Namespace, ['', '', unknown]],
  [Secret, ['', '', 0, unknown]],
  [ConfigMap, ['', 0, unknown]],
  [Node, ['', 'Unknown', none, unknown, '', none, none, unknown, unknown, unknown]],
  [Pod, ['', '0/0', '', '0', unknown, none, none, none, none]],
  [Service, ['', '', none, unknown, none, unknown, none]],
  [Event, [unknown, '', '', '', '', '', '', unknown, 1, '']],
  [Lease, ['', '', unknown]],
  [Deployment, ['', '0/0', 0, 0, unknown, '', '', '']],
  [StatefulSet, ['', '0/0', unknown, '', '']],
  [ReplicaSet, ['', 0, 0, 0, unknown, '', '', none]],
  [Endpoints, ['', none, unknown]],
  [EndpointSlice, ['', '', '<unset>', '<unset>', unknown]],
  [Cluster, ['', null]],
  [Machine, ['', null, null, null, null]],
];

/** The cells of an object that has been made, once its status is set too, where there is one. */
const cellsFor = async (api: Api, kind: SimKind, object: JsonMap): Promise<readonly unknown[]> => {
  const { metadata } = await made(api, api.at(kind), object);
  const path = api.at(kind, metadata.name);
  if (kind.status && object.status !== undefined) {
    expectObject(await api.patch(`${path}/status`, 'merge', { status: object.status }));
  }
  return cellsOf(await getTable(api, path));
};

const address = (type: string, text: string): JsonMap => ({ type, address: text });

export const tableCellCases = topic('table cells', {
  'of a node: ready or not, its roles, its addresses': async (target) => {
    const api = createApi(target);
    const of = (name: string, fields: JsonMap) => cellsFor(api, Node, { ...node(`${api.namespace}-${name}`, fields) });
    const nothing = [none, none, unknown, unknown, unknown];
    const ready = (status: string): JsonMap => ({ conditions: [{ type: 'Ready', status }] });
    expect((await of('bare', {})).slice(1)).toEqual(['Unknown', none, recent, '', ...nothing]);
    expect((await of('ready', { status: ready('True') }))[1]).toBe('Ready');
    expect((await of('silent', { status: ready('Unknown') }))[1]).toBe('NotReady');
    const spec = { unschedulable: true };
    expect((await of('cordoned', { spec, status: ready('True') }))[1]).toBe('Ready,SchedulingDisabled');
    const addresses = [address('ExternalIP', '1.2.3.4'), address('Hostname', 'h'), address('InternalIP', '10.0.0.1')];
    const nodeInfo = {
      kubeletVersion: 'v1.33.2',
      osImage: 'Some Linux',
      kernelVersion: '6.1',
      architecture: 'amd64',
      containerRuntimeVersion: 'containerd://2',
    };
    const labels = {
      'node-role.kubernetes.io/z': '',
      'node-role.kubernetes.io/a': 'x',
      'kubernetes.io/role': 'worker',
    };
    const name = `${api.namespace}-full`;
    const full = { metadata: { name, labels }, status: { addresses, nodeInfo } };
    const roles = 'a,worker,z';
    const about = ['10.0.0.1', '1.2.3.4', 'Some Linux', '6.1 (amd64)', 'containerd://2'];
    expect(await cellsFor(api, Node, full)).toEqual([name, 'Unknown', roles, recent, 'v1.33.2', ...about]);
  },

  'of workloads: what is wanted and what is there': async (target) => {
    const api = createApi(target);
    const status = { observedGeneration: 1, replicas: 3, readyReplicas: 2, availableReplicas: 1 };
    const containers = [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'y' },
    ];
    const template = { metadata: { labels: { app: 'full', b: 'c' } }, spec: { containers } };
    const matchExpressions = [{ key: 'b', operator: 'In', values: ['d', 'c'] }];
    const selector = { matchLabels: { app: 'full' }, matchExpressions };
    const full = workload('full', { replicas: 5, selector, template });
    const bare = workload('bare');
    const texts = ['a,b', 'x,y'];
    expect(await cellsFor(api, Deployment, bare)).toEqual(['bare', '0/1', 0, 0, recent, 'main', 'none', 'app=bare']);
    const deployment = { ...full, status: { ...status, updatedReplicas: 3 } };
    const selected = 'app=full,b in (c,d)';
    expect(await cellsFor(api, Deployment, deployment)).toEqual(['full', '2/5', 3, 1, recent, ...texts, selected]);
    expect(await cellsFor(api, ReplicaSet, bare)).toEqual(['bare', 1, 0, 0, recent, 'main', 'none', 'app=bare']);
    const replicaSet = { ...full, status };
    expect(await cellsFor(api, ReplicaSet, replicaSet)).toEqual(['full', 5, 3, 2, recent, ...texts, selected]);
    const set = { ...statefulSet('full', { replicas: 5, selector, template }), status };
    expect(await cellsFor(api, StatefulSet, set)).toEqual(['full', '2/5', recent, ...texts]);
  },

  'of a lease, a secret, a namespace': async (target) => {
    const api = createApi(target);
    expect(await cellsFor(api, Lease, lease('a', { holderIdentity: 'me' }))).toEqual(['a', 'me', recent]);
    const secret = { metadata: { name: 'a' }, data: { a: '', b: 'eA==' } };
    expect(await cellsFor(api, Secret, secret)).toEqual(['a', 'Opaque', 2, recent]);
    const own = api.at(Namespace, api.namespace);
    expect(cellsOf(await getTable(api, own))).toEqual([api.namespace, 'Active', recent]);
  },

  'of an event: when, of what and from whom': async (target) => {
    const api = createApi(target);
    const old = '2001-01-01T00:00:00Z';
    const years: unknown = expect.stringMatching(/^\d+y$/);
    const of = (name: string, fields: JsonMap = {}) => cellsFor(api, Event, event(name, api.namespace, fields));
    expect(await of('a')).toEqual([unknown, '', '', 'pod/a', '', '', '', unknown, 1, 'a']);
    const said = { type: 'Warning', reason: 'BackOff', message: '  Back-off restarting\n' };
    const source = { component: 'kubelet', host: 'n' };
    const series = { firstTimestamp: old, lastTimestamp: old, count: 7, source, ...said };
    const told = ['Warning', 'BackOff', 'pod/b', '', 'kubelet, n', 'Back-off restarting', years, 7, 'b'];
    expect(await of('b', series)).toEqual([years, ...told]);
    const reported = {
      eventTime: '2001-01-01T00:00:00.000000Z',
      reportingComponent: 'kcm',
      reportingInstance: 'kcm-0',
    };
    const involvedObject = { kind: 'Node', name: 'n', namespace: api.namespace, fieldPath: 'spec.x' };
    const modern = { ...said, ...reported, action: 'Act', involvedObject };
    const rest = ['BackOff', 'node/n', 'spec.x', 'kcm, kcm-0', 'Back-off restarting', years, 1, 'c'];
    expect(await of('c', modern)).toEqual([years, 'Warning', ...rest]);
    const { creationTimestamp } = expectObject(await api.get(api.at(Event, 'c'))).metadata;
    const lastObservedTime = creationTimestamp.replace(/Z$/, '.000000Z');
    const [lastSeen, ...others] = await of('d', { ...modern, series: { count: 3, lastObservedTime } });
    expect([lastSeen, ...others.slice(-3)]).toEqual([recent, years, 3, 'd']);
  },

  'of an endpoint slice: the first three, and how many more': async (target) => {
    const api = createApi(target);
    const bare = await cellsFor(api, EndpointSlice, endpointSlice('a'));
    expect(bare).toEqual(['a', 'IPv4', '<unset>', '<unset>', recent]);
    const ports = [{ name: 'p', port: 1 }, { name: 'q', port: 2 }, { name: 'r' }];
    const endpoints = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'].map((ip) => ({ addresses: [ip] }));
    const full = { ...endpointSlice('b'), ports, endpoints };
    const shown = ['1,2,r', '10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...'];
    expect(await cellsFor(api, EndpointSlice, full)).toEqual(['b', 'IPv4', ...shown, recent]);
  },

  'of endpoints: ready addresses with their ports': async (target) => {
    const api = createApi(target);
    const of = async (name: string, subsets?: readonly JsonMap[]): Promise<unknown> =>
      (await cellsFor(api, Endpoints, { metadata: { name }, ...(subsets === undefined ? {} : { subsets }) }))[1];
    const [one, two] = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }];
    expect(await of('a')).toBe('<none>');
    expect(await of('b', [{ notReadyAddresses: [one], ports: [{ port: 80 }] }])).toBe('');
    expect(await of('c', [{ addresses: [one, two], ports: [{ port: 80 }] }])).toBe('10.0.0.1:80,10.0.0.2:80');
    const ports = [
      { name: 'p', port: 80 },
      { name: 'q', port: 81 },
    ];
    expect(await of('d', [{ addresses: [one, two], ports }])).toBe('10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 1 more...');
  },

  'of a service': async (target) => {
    const api = createApi(target);
    const selector = { b: 'c', a: 'x' };
    const headless = await cellsFor(api, Service, service('a', { clusterIP: 'None', selector }));
    expect(headless).toEqual(['a', 'ClusterIP', 'None', '<none>', '443/TCP', recent, 'a=x,b=c']);
    const external = service('b', { type: 'ExternalName', externalName: 'example.com', ports: [] });
    const elsewhere = ['ExternalName', '<none>', 'example.com', '<none>', recent, '<none>'];
    expect(await cellsFor(api, Service, external)).toEqual(['b', ...elsewhere]);
  },

  'of custom kinds: what their columns name': async (target) => {
    const api = createApi(target);
    const name = `${api.namespace}-a`;
    expect(await cellsFor(api, Cluster, cluster(name))).toEqual([name, recent]);
    expect(await cellsFor(api, Machine, machine('a'))).toEqual(['a', null, recent, null, null]);
    const full = machine('b', { spec: { providerID: 'aws:///x' }, status: { currentStatus: { phase: 'Running' } } });
    const labelled = { ...full, metadata: { name: 'b', labels: { node: 'n' } } };
    expect(await cellsFor(api, Machine, labelled)).toEqual(['b', 'Running', recent, 'n', 'aws:///x']);
    const odd = machine('c', { spec: { providerID: { a: [1] } }, status: { currentStatus: { phase: 7 } } });
    expect(await cellsFor(api, Machine, odd)).toEqual(['c', '7', recent, null, '{"a":[1]}']);
  },

  'of custom kinds: each type shows its own, and nothing of others': async (target) => {
    const api = createApi(target);
    const of = (name: string, spec: JsonMap, conditions: readonly JsonMap[]) =>
      cellsFor(api, Watermill, watermill(name, { spec, status: { conditions } }));
    const built = '2001-01-01T00:00:00Z';
    const conditions = [
      { type: 'Dry', status: 'False' },
      { type: 'Ready', status: 'True' },
    ];
    const full = await of('a', { stones: 2, flow: 1.5, open: false, built }, conditions);
    expect(full).toEqual(['a', 2, 1.5, false, expect.stringMatching(/^\d+y$/), 'True']);
    const odd = await of('b', { stones: 2.7, flow: '1', open: 'yes', built: 'long ago' }, []);
    expect(odd).toEqual(['b', 2, null, null, '<invalid>', null]);
    expect(await of('c', { stones: 'two', flow: 3, built: 7 }, [])).toEqual(['c', null, 3, null, null, null]);
  },
});

const ended = (exitCode: number, fields: JsonMap = {}): JsonMap => ({
  terminated: { exitCode, startedAt: '2001-01-01T00:00:00Z', finishedAt: '2001-01-01T00:00:10Z', ...fields },
});
const up = { state: { running: { startedAt: '2001-01-01T00:00:00Z' } }, ready: true };
const [isReady, isInitialized] = ['Ready', 'Initialized'].map((type) => ({ type, status: 'True' }));
const spec = { containers: ['main', 'other'].map((name) => ({ name, image: 'none' })) };
const withInit = { ...spec, initContainers: ['one', 'two'].map((name) => ({ name, image: 'none' })) };
const sidecar = { name: 'side', image: 'none', restartPolicy: 'Always' };
const withSidecar = { ...spec, initContainers: [sidecar, { name: 'two', image: 'none' }] };

const waiting = (reason: string): JsonMap => ({ state: { waiting: { reason } } });

/** READY, STATUS, RESTARTS of a pod by its spec and status. */
const pods: Readonly<Record<string, readonly [spec: JsonMap, status: JsonMap, cells: string]>> = {
  new: [spec, {}, '0/2 Pending 0'],
  'with a reason of its own': [spec, { phase: 'Failed', reason: 'Evicted' }, '0/2 Evicted 0'],
  gated: [
    spec,
    { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    '0/2 SchedulingGated 0',
  ],
  up: [
    spec,
    { phase: 'Running', containerStatuses: [containerStatus('main', up), containerStatus('other', up)] },
    '2/2 Running 0',
  ],
  'crash-looping': [
    spec,
    {
      phase: 'Running',
      containerStatuses: [
        containerStatus('main', up),
        containerStatus('other', { ...waiting('CrashLoopBackOff'), lastState: ended(1), restartCount: 4 }),
      ],
    },
    '1/2 CrashLoopBackOff 4 (AGE ago)',
  ],
  'restarted, nobody knows when': [
    spec,
    { phase: 'Running', containerStatuses: [containerStatus('main', { ...up, restartCount: 2 })] },
    '1/2 Running 2',
  ],
  'ended well': [
    spec,
    { phase: 'Succeeded', containerStatuses: [containerStatus('main', { state: ended(0, { reason: 'Completed' }) })] },
    '0/2 Completed 0',
  ],
  'ended by a signal': [
    spec,
    { phase: 'Failed', containerStatuses: [containerStatus('main', { state: ended(137, { signal: 9 }) })] },
    '0/2 Signal:9 0',
  ],
  'ended without a reason': [
    spec,
    { phase: 'Failed', containerStatuses: [containerStatus('main', { state: ended(3) })] },
    '0/2 ExitCode:3 0',
  ],
  'one ended well, the other is up': [
    spec,
    {
      phase: 'Running',
      conditions: [isReady],
      containerStatuses: [
        containerStatus('main', { state: ended(0, { reason: 'Completed' }) }),
        containerStatus('other', up),
      ],
    },
    '1/2 Running 0',
  ],
  'one ended well, the other is up, the pod is not': [
    spec,
    {
      phase: 'Running',
      containerStatuses: [
        containerStatus('main', { state: ended(0, { reason: 'Completed' }) }),
        containerStatus('other', up),
      ],
    },
    '1/2 NotReady 0',
  ],
  'one ended well, the other did not': [
    spec,
    {
      phase: 'Running',
      containerStatuses: [
        containerStatus('main', { state: ended(0, { reason: 'Completed' }) }),
        containerStatus('other', { state: ended(1, { reason: 'Error' }) }),
      ],
    },
    '0/2 Error 0',
  ],
  'in its second init container': [
    withInit,
    {
      initContainerStatuses: [
        containerStatus('one', { state: ended(0, { reason: 'Completed' }), restartCount: 1 }),
        containerStatus('two', waiting('PodInitializing')),
      ],
    },
    '0/2 Init:1/2 1',
  ],
  'with an init container that fails': [
    withInit,
    { initContainerStatuses: [containerStatus('one', { state: ended(1), restartCount: 3 }), containerStatus('two')] },
    '0/2 Init:ExitCode:1 3',
  ],
  'with an init container that waits': [
    withInit,
    { initContainerStatuses: [containerStatus('one', waiting('ImagePullBackOff'))] },
    '0/2 Init:ImagePullBackOff 0',
  ],
  'initialized, though an init container has not ended': [
    withInit,
    {
      phase: 'Running',
      conditions: [isInitialized],
      initContainerStatuses: [containerStatus('one', { state: ended(1), restartCount: 3 })],
      containerStatuses: [containerStatus('main', up)],
    },
    '1/2 Init:ExitCode:1 0',
  ],
  'with a side-car': [
    withSidecar,
    {
      phase: 'Running',
      conditions: [isInitialized],
      initContainerStatuses: [
        containerStatus('side', { ...up, started: true, restartCount: 2, lastState: ended(1) }),
        containerStatus('two', { state: ended(0, { reason: 'Completed' }), restartCount: 5 }),
      ],
      containerStatuses: [containerStatus('main', { ...up, restartCount: 1 })],
    },
    '2/3 Running 3 (AGE ago)',
  ],
};

const withoutAge = (text: unknown): string => String(text).replace(/\d+[a-z]\S*(?= ago)/, 'AGE');

export const tablePodCases = topic('table of pods', {
  'what is ready, how they are, how often they were restarted': async (target) => {
    const api = createApi(target);
    for (const [what, [wanted, status, cells]] of Object.entries(pods)) {
      const name = what.replaceAll(/[ ,]+/g, '-');
      const [, ready, state, restarts] = await cellsFor(api, Pod, { ...pod(name, wanted), status });
      expect([what, `${String(ready)} ${String(state)} ${withoutAge(restarts)}`]).toEqual([what, cells]);
    }
  },

  'where they are': async (target) => {
    const api = createApi(target);
    const bare = await cellsFor(api, Pod, pod('a'));
    expect(bare.slice(4)).toEqual([recent, '<none>', '<none>', '<none>', '<none>']);
    const gates = ['x', 'y'].map((name) => ({ conditionType: `example.com/${name}` }));
    const status = {
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [{ type: 'example.com/x', status: 'True' }],
    };
    const placed = await cellsFor(api, Pod, { ...pod('b', { nodeName: 'n', readinessGates: gates }), status });
    expect(placed.slice(5)).toEqual(['10.0.0.1', 'n', '<none>', '1/2']);
    const nominated = await cellsFor(api, Pod, { ...pod('c'), status: { nominatedNodeName: 'm' } });
    expect(nominated.slice(5)).toEqual(['<none>', '<none>', 'm', '<none>']);
  },

  'one that is being deleted, and one that was lost while it was': async (target) => {
    const api = createApi(target);
    for (const [name, status] of [
      ['terminating', {}],
      ['lost', { reason: 'NodeLost' }],
      ['over', { phase: 'Succeeded' }],
    ] as const) {
      const finalizers = ['example.com/hold'];
      await cellsFor(api, Pod, { ...pod(name, { nodeName: 'n' }, { finalizers }), status });
      await api.remove(api.at(Pod, name));
    }
    const { rows } = await getTable(api, api.at(Pod));
    expect(rows.map(({ cells }) => [cells[0], cells[2]])).toEqual([
      ['lost', 'Unknown'],
      ['over', 'Succeeded'],
      ['terminating', 'Terminating'],
    ]);
    const completed = { type: 'Completed', status: 'True', reason: 'Succeeded' };
    expect(rows.map(({ conditions }) => conditions?.length ?? 0)).toEqual([0, 1, 0]);
    expect(rows[1]!.conditions).toEqual([{ ...completed, message: 'The pod has completed successfully.' }]);
  },
});
