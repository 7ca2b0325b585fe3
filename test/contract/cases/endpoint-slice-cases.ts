import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { JsonMap } from '../../../simulator/apiserver/object.ts';
import type { Api } from './api.ts';
import { expectObject, made, namesOf } from './expectations.ts';
import { endpointSlice } from './fixtures.ts';
import type { Json } from './json.ts';
import { topic } from './target.ts';
import { story } from './watcher.ts';

const { EndpointSlice } = simKinds;

const everywhere = '/apis/discovery.k8s.io/v1/endpointslices';
const serviceName = 'kubernetes.io/service-name';

const endpoint = (conditions: Readonly<JsonMap>): JsonMap => ({ addresses: ['10.0.0.1'], conditions });

const makeOf = (api: Api, path: string, slice: { name: string; service: string }): Promise<Json> =>
  made(api, path, endpointSlice(slice.name, { [serviceName]: slice.service, case: api.namespace }));

export const endpointSliceCases = topic('endpoint slices', {
  'slices of some services, over all namespaces, in list and watch alike': async (api) => {
    const other = `${api.namespace}-other`;
    await made(api, '/api/v1/namespaces', { metadata: { name: other } });
    const mine = api.at(EndpointSlice);
    const theirs = mine.replace(api.namespace, other);
    const labelSelector = `${serviceName} in (etcd-main-client,kube-apiserver),case=${api.namespace}`;
    await makeOf(api, mine, { name: 'a', service: 'kube-apiserver' });
    await makeOf(api, mine, { name: 'b', service: 'kube-apiserver-internal' });
    await makeOf(api, theirs, { name: 'c', service: 'etcd-main-client' });
    await made(api, mine, endpointSlice('d', { case: api.namespace }));
    const list = await api.get(everywhere, { labelSelector });
    expect([...namesOf(list)].sort()).toEqual(['a', 'c']);
    const { resourceVersion } = list.json.metadata;
    const watcher = await api.watch(everywhere, { labelSelector, resourceVersion });
    await makeOf(api, theirs, { name: 'e', service: 'etcd-main' });
    await makeOf(api, theirs, { name: 'f', service: 'kube-apiserver' });
    const endpoints = [endpoint({ ready: true })];
    const ready = expectObject(await api.patch(api.at(EndpointSlice, 'a'), { endpoints }));
    expectObject(await api.remove(`${theirs}/c`));
    const events = await watcher.take(3);
    expect(story(events)).toEqual(['ADDED f', 'MODIFIED a', 'DELETED c']);
    expect(events[1]?.object).toEqual(ready);
    expect(events[2]?.object.metadata.namespace).toBe(other);
    await watcher.close();
  },

  'conditions stay as they were written: true, false, absent': async (api) => {
    const endpoints = [
      endpoint({ ready: true, serving: true, terminating: false }),
      endpoint({ ready: false, serving: true, terminating: true }),
      endpoint({}),
    ].map((it, index) => ({ ...it, targetRef: { kind: 'Pod', name: `pod-${index}`, namespace: api.namespace } }));
    const slice = await made(api, api.at(EndpointSlice), { ...endpointSlice('a'), endpoints });
    expect(slice.endpoints).toEqual(endpoints);
    expect(expectObject(await api.get(api.at(EndpointSlice, 'a')))).toEqual(slice);
  },

  'without endpoints: null, whatever was written': async (api) => {
    const watcher = await api.watch(api.at(EndpointSlice));
    const { endpoints: _, ports: __, ...bare } = endpointSlice('bare');
    for (const slice of [endpointSlice('a'), bare]) {
      expect(await made(api, api.at(EndpointSlice), slice)).toMatchObject({ endpoints: null, ports: null });
    }
    await made(api, api.at(EndpointSlice), { ...endpointSlice('b'), endpoints: [endpoint({})] });
    const patched = expectObject(await api.patch(api.at(EndpointSlice, 'b'), { endpoints: [] }));
    expect(patched.endpoints).toBeNull();
    const { items } = expectObject(await api.get(api.at(EndpointSlice)));
    expect(items.map((item) => item.endpoints)).toEqual([null, null, null]);
    const events = await watcher.take(4);
    expect(story(events)).toEqual(['ADDED a', 'ADDED bare', 'ADDED b', 'MODIFIED b']);
    expect([events[0]?.object.endpoints, events[3]?.object.endpoints]).toEqual([null, null]);
    await watcher.close();
  },
});
