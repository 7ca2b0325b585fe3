import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { JsonMap } from '../../../simulator/apiserver/object.ts';
import { expectObject, made, topic } from './expectations.ts';
import { endpointSlice } from './fixtures.ts';
import { story } from './watcher.ts';

const { EndpointSlice } = simKinds;

const endpoint = (conditions: Readonly<JsonMap>): JsonMap => ({ addresses: ['10.0.0.1'], conditions });

export const endpointSliceCases = topic('endpoint slices', {
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
