import { expect, it } from 'vitest';
import type { Call } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type ProberSettings, proberConfig } from '../prober/index.ts';
import { checkShoots } from './checks/shoots.ts';
import { buildCluster, buildLease, buildMachine, buildNode, buildShoot } from '../../test/doubles/builders.ts';
import { statusOf } from './checks/check.ts';
import { type PreflightRun, checkAll } from './preflight.ts';
import { readShoots } from './read-clusters.ts';
import { readResources, readSecrets } from './read-objects.ts';
import type { Reader } from './reader.ts';

const ref = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: '{{ cluster }}-controller-manager',
  namespace: 'central',
};
const settingsWith = (given: object): ProberSettings =>
  proberConfig.load(JSON.stringify({ dependentResourceInfos: [{ ref, scaleUp: {} }], ...given }), {
    unknownFields: 'error',
    purpose: 'ahead',
  }).settings!;

const readerOf = (answers: Readonly<Record<string, unknown>>): Reader => {
  const client = {
    call: async <T>({ path, query = {}, decode }: Call<T>) => {
      const asked = [path, ...Object.entries(query).map(([key, value]) => `${key}=${value}`)].join('?');
      if (answers[asked] instanceof ApiError) throw answers[asked];
      if (!Object.hasOwn(answers, asked)) throw new ApiError({ code: 'NotFound', message: asked });
      return { value: decode(answers[asked]) };
    },
  };
  const clock = { monotonic: () => 0, now: () => 0 };
  const { signal } = new AbortController();
  return { client: client as unknown as KubeClient, clock: clock as Reader['clock'], signal, deadline: 1_000 };
};

it('finds the clusters of resources whose names are templates', async () => {
  const at = (name: string) => ({ metadata: { namespace: 'central', name } });
  const reader = readerOf({ '/apis/apps/v1/deployments': { items: [at('two-controller-manager'), at('other')] } });
  const served = { kind: 'served', resource: 'deployments', namespaced: true, hasScale: true } as const;
  const seen = await readResources(reader, ref, { found: served });
  expect([...(seen?.keys() ?? [])]).toEqual(['two']);
});

it('finds clusters by the labels of their Secrets, and uses the oldest Secret of several', async () => {
  const labelled = settingsWith({ clusterSource: { kind: 'secret', selector: { app: 'tenant' } } });
  const secret = (namespace: string, object: string, created: string) => ({
    metadata: { namespace, name: object, creationTimestamp: created },
    data: { kubeconfig: Buffer.from(object).toString('base64') },
  });
  const reader = readerOf({
    '/api/v1/namespaces': { items: [] },
    '/api/v1/secrets?labelSelector=app=tenant': {
      items: [
        secret('one', 'newer', '2026-11-23T08:00:00Z'),
        secret('one', 'older', '2026-11-22T08:00:00Z'),
        secret('two', 'only', '2026-11-22T08:00:00Z'),
      ],
    },
  });
  const shoots = await readShoots(reader, labelled);
  expect(checkShoots(shoots).findings).toEqual([
    {
      code: 'secret-ambiguous',
      shoot: 'one',
      detail:
        '2 Secrets with a kubeconfig have the labels of clusterSource.selector: the prober uses older, the oldest, and not newer',
    },
  ]);
  const texts = await readSecrets(reader, labelled.kubeConfigSecretName, { settings: labelled });
  expect([...texts]).toEqual([
    ['one', 'older'],
    ['two', 'only'],
  ]);
});

it('reads the Secrets of both probes under the key that the prober reads', async () => {
  const settings = settingsWith({ kubeConfigSecretName: 'own', clusterSource: { kind: 'secret', key: 'value' } });
  const secret = { metadata: { namespace: 'one', name: 'any' }, data: { kubeconfig: 'bm8=', value: 'eWVz' } };
  const reader = readerOf({
    '/api/v1/secrets?fieldSelector=metadata.name=own': { items: [secret] },
    '/api/v1/secrets?fieldSelector=metadata.name=public': { items: [secret] },
  });
  expect(await readSecrets(reader, 'own', { settings })).toEqual(new Map([['one', 'yes']]));
  expect(await readSecrets(reader, 'public', { settings })).toEqual(new Map([['one', 'no']]));
});

const kcmRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kube-controller-manager' };
const millRef = { apiVersion: 'example.com/v1', kind: 'Mill', name: 'mill' };
const wholeSettings = settingsWith({
  kubeConfigSecretName: 'probe',
  externalProbe: { kubeConfigSecretName: 'external' },
  kcmNodeMonitorGraceDuration: '40s',
  dependentResourceInfos: [
    { ref: kcmRef, scaleUp: {}, scaleDown: {} },
    { ref: millRef, optional: true, scaleUp: {}, scaleDown: {} },
  ],
});

const container = {
  name: 'kcm',
  image: 'kcm:v1.33.1',
  command: ['/kube-controller-manager', '--node-monitor-grace-period=40s'],
};
const served = (...kinds: readonly (readonly [name: string, kind: string])[]) => ({
  resources: kinds.map(([name, kind]) => ({ name, kind, namespaced: true })),
});
const named = (list: string, name: string): string => `${list}?fieldSelector=metadata.name=${name}`;
const metadata = { namespace: 'a', name: 'any' };
const answers = {
  [named('/apis/coordination.k8s.io/v1/leases', 'dwd-prober-leader-election')]: { items: [] },
  '/apis/extensions.gardener.cloud/v1alpha1': served(['clusters', 'Cluster']),
  '/apis/machine.sapcloud.io/v1alpha1': served(['machines', 'Machine']),
  '/apis/apps/v1': served(['deployments', 'Deployment']),
  '/apis/example.com': { versions: [] },
  '/apis/extensions.gardener.cloud/v1alpha1/clusters': { items: [buildCluster({ name: 'a', shoot: buildShoot() })] },
  [named('/api/v1/secrets', 'probe')]: { items: [{ metadata, data: { kubeconfig: 'eWVz' } }] },
  [named('/api/v1/secrets', 'external')]: { items: [] },
  [named('/apis/apps/v1/deployments', kcmRef.name)]: {
    items: [
      { metadata: { ...metadata, name: kcmRef.name }, spec: { template: { spec: { containers: [container] } } } },
    ],
  },
};

const unauthorized = { call: () => Promise.reject(new ApiError({ code: 'Unauthorized', message: '401' })) };

/** Makes all checks of a seed that gives these answers; by default its shoots refuse our credentials. Each check is a line. */
const linesOf = async (
  given: Readonly<Record<string, unknown>>,
  run: Partial<PreflightRun> = {},
  client: KubeClient = unauthorized,
) => {
  const clientFor = () => ({ client, close: () => undefined });
  const checks = await checkAll({
    run: {
      settings: wholeSettings,
      shootApiServers: true,
      rightsOf: 'none',
      progress: () => undefined,
      ...run,
    } as PreflightRun,
    reader: readerOf(given),
    seed: { version: 'v1.33.1', roundTripMs: 3, skewMs: 0 },
    connector: { clientFor },
  });
  return checks.map((one) => {
    const found = one.findings.map(({ code, shoot = '-', detail }) => `${code} ${shoot}: ${detail}`);
    return [one.subject, one.name, statusOf(one), one.detail, ...found].join(' | ');
  });
};

it('makes all checks, in the order of the headings', async () => {
  expect(await linesOf(answers)).toMatchInlineSnapshot(`
    [
      "seed | API server | ok | v1.33.1 responds in 3 ms",
      "seed | clock, compared with this machine | ok | agrees within 5s",
      "kinds | Cluster of Gardener | ok | served as clusters",
      "kinds | Machine of machine-controller-manager | ok | served as machines",
      "kinds | apps/v1/Deployment/kube-controller-manager | ok | served as deployments",
      "kinds | example.com/v1/Mill/mill | ok | not served; it is optional",
      "rights | of the prober | left out | --rights-of=none",
      "shoots | Clusters | ok | 1 of 1 shoot probed",
      "secrets | probe | ok | usable in 1 of 1 shoot",
      "secrets | external | warning | usable in 0 of 1 shoot | external-secret a: there is no Secret external",
      "dependent resources | apps/v1/Deployment/kube-controller-manager | ok | in 1 of 1 shoot",
      "grace period | --node-monitor-grace-period of KCM | ok | as configured in 1 of 1 shoot",
      "grace period | left when KCM is scaled down | ok | 9s or more in 1 of 1 shoot",
      "API servers of shoots | answers | failed | from 0 of 1 shoot | secret-rejected a: 401",
    ]
  `);
});

it('reports what could not be checked of a seed of which little can be read, and what was left out', async () => {
  const { '/apis/extensions.gardener.cloud/v1alpha1/clusters': _, ...unread } = answers;
  const lines = await linesOf(unread, { shootApiServers: false });
  expect(lines.filter((line) => !line.includes(' | ok | '))).toMatchInlineSnapshot(`
    [
      "rights | of the prober | left out | --rights-of=none",
      "shoots | Clusters | unknown | could not be checked | read-failed -: /apis/extensions.gardener.cloud/v1alpha1/clusters",
      "secrets | probe | unknown | could not be checked | read-failed -: /apis/extensions.gardener.cloud/v1alpha1/clusters",
      "secrets | external | unknown | could not be checked | read-failed -: /apis/extensions.gardener.cloud/v1alpha1/clusters",
      "dependent resources | apps/v1/Deployment/kube-controller-manager | unknown | could not be checked | read-failed -: /apis/extensions.gardener.cloud/v1alpha1/clusters",
      "grace period | --node-monitor-grace-period of KCM | unknown | could not be checked | read-failed -: /apis/extensions.gardener.cloud/v1alpha1/clusters",
      "grace period | left when KCM is scaled down | unknown | could not be checked | read-failed -: /apis/extensions.gardener.cloud/v1alpha1/clusters",
      "API servers of shoots | answers | left out | --shoot-api-servers=false",
    ]
  `);
});

it('makes no check whose read is refused, which is no success', async () => {
  const lines = await linesOf({ ...answers, [named('/api/v1/secrets', 'probe')]: forbidden });
  expect(lines).toContain(
    'secrets | probe | unknown | could not be checked | read-refused -: you may not list resource "secrets" "probe" in API group "" at the cluster scope',
  );
});

it('names two probers that lead by the clock of the API server, whatever the clocks of their nodes say', async () => {
  const leaseIn = (namespace: string, stamp: string) => {
    const managedFields = [{ time: stamp, fieldsV1: { 'f:spec': { 'f:renewTime': {} } } }];
    const spec = { holderIdentity: `${namespace}-a`, renewTime: '1969-12-31T23:00:00.000000Z' };
    return { metadata: { ...{ name: 'lead', uid: 'u', resourceVersion: '1' }, namespace, managedFields }, spec };
  };
  const items = [
    leaseIn('garden', '1970-01-01T00:00:00Z'),
    leaseIn('watch', '1969-12-31T23:59:50Z'),
    leaseIn('dead', '1969-12-31T23:59:40Z'),
  ];
  const leases = named('/apis/coordination.k8s.io/v1/leases', 'dwd-prober-leader-election');
  expect(await linesOf({ ...answers, [leases]: { items } })).toContain(
    'seed | installed prober | warning | 2 are active | several-probers -: probers are active in several namespaces: garden (garden-a), watch (watch-a)',
  );
});

it('compares the images of the pods of the Deployment whose pod leads', async () => {
  const lease = {
    ...{ metadata: { name: 'lead', uid: 'u', resourceVersion: '1', namespace: 'garden' } },
    spec: { holderIdentity: 'one_1', renewTime: '1970-01-01T00:00:00.000000Z' },
  };
  const pod = (name: string, image: string, { app = 'dwd-prober', hash = '1', phase = 'Running' } = {}) => ({
    metadata: { name, namespace: 'garden', labels: { app, 'pod-template-hash': hash } },
    spec: { containers: [{ image }] },
    status: { phase },
  });
  const items = [
    pod('one', 'host/dwd:1'),
    pod('two', 'host/dwd:2', { hash: '2' }),
    pod('three', 'host/dwd:1'),
    pod('evicted', 'host/dwd:0', { phase: 'Failed' }),
    pod('weeder', 'host/dwd:3', { app: 'dwd-weeder' }),
  ];
  const leases = named('/apis/coordination.k8s.io/v1/leases', 'dwd-prober-leader-election');
  const pods = '/api/v1/namespaces/garden/pods';
  const told = async (found: unknown) => {
    const lines = await linesOf({ ...answers, [leases]: { items: [lease] }, [pods]: found });
    return lines.filter((text) => text.startsWith('seed | replicas'));
  };
  expect([await told({ items }), await told(forbidden)]).toEqual([
    [
      'seed | replicas | warning | 2 images | several-versions -: the replicas of the prober run different images: host/dwd:1 (one, three), host/dwd:2 (two)',
    ],
    [],
  ]);
});

const machinesPath = '/apis/machine.sapcloud.io/v1alpha1/namespaces/a/machines';
const forbidden = new ApiError({ code: 'Forbidden', message: 'no' });
const shootAnswers = {
  '/version': { gitVersion: 'v1.33.1' },
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { status: { allowed: true } },
  '/api/v1/nodes': {
    items: [
      buildNode({ name: 'n1' }),
      buildNode({ name: 'n2', conditions: [{ type: 'DiskPressure', status: 'True' }] }),
      buildNode({ name: 'n3' }),
    ],
  },
  '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases': {
    items: ['n1', 'n2', 'gone'].map((name) => buildLease({ name })),
  },
};

it.each([
  ['two', [{ name: 'worker', nodeConditions: ['Own'] }], ['n1', 'n2'], {}, 'ok | 2 or more in 1 of 1 shoot'],
  [
    'one, by an unhealthy condition, a missing lease and a missing node',
    ['worker'],
    ['n1', 'n2', 'n3'],
    {},
    'failed | 2 or more in 0 of 1 shoot | too-few-nodes a: 1 of 3 nodes count, and an outage shows by two at least; not counted: 1 (its condition DiskPressure is True), 1 (there is no such node)',
  ],
  [
    'an unknown number, without the right to list Machines,',
    ['worker'],
    forbidden,
    {},
    'unknown | 2 or more in 0 of 1 shoot | read-refused a: you may not list resource "machines" in API group "machine.sapcloud.io" in the namespace "a"',
  ],
  [
    'an unknown number, if the shoot does not list them,',
    ['worker'],
    [],
    { '/api/v1/nodes': new ApiError({ code: 'Timeout', message: 'no answer' }) },
    'unknown | 2 or more in 0 of 1 shoot | read-failed a: no answer',
  ],
  [
    'nothing, without the rights in the shoot,',
    ['worker'],
    [],
    { '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { status: { allowed: false } } },
    undefined,
  ],
])('of the nodes of a shoot %s count', async (_, workers, machines, shoot, expected) => {
  const clusters = { items: [buildCluster({ name: 'a', shoot: buildShoot({ workers }) })] };
  const items = machines instanceof ApiError ? machines : { items: machines.map((name) => buildMachine({ name })) };
  const lines = await linesOf(
    { ...answers, '/apis/extensions.gardener.cloud/v1alpha1/clusters': clusters, [machinesPath]: items },
    {},
    readerOf({ ...shootAnswers, ...shoot }).client,
  );
  const name = 'API servers of shoots | nodes that count | ';
  expect(lines.find((line) => line.startsWith(name))?.slice(name.length)).toBe(expected);
});
