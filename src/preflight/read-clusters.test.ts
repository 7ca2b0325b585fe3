import { expect, it } from 'vitest';
import type { Call } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { proberConfig } from '../prober/index.ts';
import { checkShoots } from './checks/shoots.ts';
import { readShoots } from './read-clusters.ts';
import { readResources, readSecrets } from './read-objects.ts';
import type { Reader } from './reader.ts';

const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: '{{ cluster }}-controller-manager' };
const name = '{{ cluster }}-kubeconfig';
const { settings } = proberConfig.load(
  JSON.stringify({
    kubeConfigSecretName: name,
    clusterSource: { kind: 'cluster-api' },
    dependentResourceInfos: [{ ref, scaleUp: {} }],
  }),
  { unknownFields: 'error', purpose: 'ahead' },
);

const at = (object: string) => ({ metadata: { namespace: 'fleet', name: object } });
const initialized = { conditions: [{ type: 'ControlPlaneInitialized', status: 'True' }] };
const secrets = '/api/v1/secrets?labelSelector=cluster.x-k8s.io/cluster-name';

const readerOf = (answers: Readonly<Record<string, unknown>>): Reader => {
  const client = {
    call: <T>({ path, query = {}, decode }: Call<T>) => {
      const asked = [path, ...Object.entries(query).map(([key, value]) => `${key}=${value}`)].join('?');
      if (!Object.hasOwn(answers, asked)) throw new ApiError({ code: 'NotFound', message: asked });
      return Promise.resolve({ value: decode(answers[asked]) });
    },
  };
  const clock = { monotonic: () => 0 };
  const { signal } = new AbortController();
  return { client: client as unknown as KubeClient, clock: clock as Reader['clock'], signal, deadline: 1_000 };
};

it.each(['v1beta1', 'v1beta2'])(
  'finds the clusters of Cluster API in %s, with their Secrets and resources',
  async (version) => {
    const apiVersion = `cluster.x-k8s.io/${version}`;
    const reader = readerOf({
      '/apis/cluster.x-k8s.io': { versions: [{ groupVersion: 'cluster.x-k8s.io/v1' }, { groupVersion: apiVersion }] },
      [`/apis/${apiVersion}/clusters`]: {
        items: [
          { ...at('one'), spec: {}, status: initialized },
          { ...at('two'), spec: { paused: true }, status: initialized },
        ],
      },
      [secrets]: {
        items: [
          { ...at('one-kubeconfig'), data: { value: 'YQ==' } },
          { ...at('one-ca'), data: {} },
        ],
      },
      '/apis/apps/v1/deployments': { items: [at('two-controller-manager'), at('other')] },
    });
    const shoots = await readShoots(reader, settings!);
    const kinds =
      shoots.ok &&
      shoots.value.map(({ cluster }) => [cluster.name, cluster.lifecycle.ok && cluster.lifecycle.value.kind]);
    expect(kinds).toEqual([
      ['fleet/one', 'run'],
      ['fleet/two', 'stop'],
    ]);
    const texts = await readSecrets(reader, { settings: settings!, name });
    expect(texts).toEqual({ ok: true, value: new Map([['fleet/one', 'a']]) });
    const served = { kind: 'served', resource: 'deployments', namespaced: true, hasScale: true } as const;
    const seen = await readResources(reader, { settings: settings!, ref, found: { ok: true, value: served } });
    expect(seen?.ok === true && [...seen.value.keys()]).toEqual(['fleet/two']);
  },
);

it('reports the served versions if it knows none of them', async () => {
  const reader = readerOf({ '/apis/cluster.x-k8s.io': { versions: [{ groupVersion: 'cluster.x-k8s.io/v1alpha4' }] } });
  const shoots = await readShoots(reader, settings!);
  expect(shoots.ok ? '' : shoots.error.detail).toContain('serves cluster.x-k8s.io/v1alpha4 of it');
});

it('finds clusters by the labels of their Secrets, and uses the oldest Secret of several', async () => {
  const { settings: labelled } = proberConfig.load(
    JSON.stringify({
      clusterSource: { kind: 'secret', selector: { app: 'tenant' } },
      dependentResourceInfos: [{ ref: { ...ref, name: 'kcm' }, scaleUp: {} }],
    }),
    { unknownFields: 'error', purpose: 'ahead' },
  );
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
  const shoots = await readShoots(reader, labelled!);
  expect(shoots.ok && checkShoots(shoots).findings).toEqual([
    {
      code: 'secret-ambiguous',
      shoot: 'one',
      detail: '2 Secrets have the labels of clusterSource.selector: the prober uses older, the oldest, and not newer',
    },
  ]);
  const { kubeConfigSecretName } = labelled!;
  const texts = await readSecrets(reader, { settings: labelled!, name: kubeConfigSecretName });
  expect(texts.ok && [...texts.value]).toEqual([
    ['one', 'older'],
    ['two', 'only'],
  ]);
});

it('reads the Secret of the external probe under the key that the prober reads', async () => {
  const external = '{{ cluster }}-public';
  const data = { kubeconfig: 'bm8=', value: 'eWVz' };
  const reader = readerOf({ [secrets]: { items: [{ ...at('one-public'), data }] } });
  const texts = await readSecrets(reader, { settings: settings!, name: external });
  expect(texts).toEqual({ ok: true, value: new Map([['fleet/one', 'yes']]) });
});
