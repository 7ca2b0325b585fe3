import { expect, it } from 'vitest';
import type { Call } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type ProberSettings, proberConfig } from '../prober/index.ts';
import { checkShoots } from './checks/shoots.ts';
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

it('finds the clusters of resources whose names are templates', async () => {
  const at = (name: string) => ({ metadata: { namespace: 'central', name } });
  const reader = readerOf({ '/apis/apps/v1/deployments': { items: [at('two-controller-manager'), at('other')] } });
  const served = { kind: 'served', resource: 'deployments', namespaced: true, hasScale: true } as const;
  const seen = await readResources(reader, { ref, found: { ok: true, value: served } });
  expect(seen?.ok === true && [...seen.value.keys()]).toEqual(['two']);
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
  expect(shoots.ok && checkShoots(shoots).findings).toEqual([
    {
      code: 'secret-ambiguous',
      shoot: 'one',
      detail: '2 Secrets have the labels of clusterSource.selector: the prober uses older, the oldest, and not newer',
    },
  ]);
  const { kubeConfigSecretName } = labelled;
  const texts = await readSecrets(reader, { settings: labelled, name: kubeConfigSecretName });
  expect(texts.ok && [...texts.value]).toEqual([
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
  expect(await readSecrets(reader, { settings, name: 'own' })).toEqual({ ok: true, value: new Map([['one', 'yes']]) });
  expect(await readSecrets(reader, { settings, name: 'public' })).toEqual({
    ok: true,
    value: new Map([['one', 'no']]),
  });
});
