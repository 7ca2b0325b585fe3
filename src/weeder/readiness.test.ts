import { describe, expect, it } from 'vitest';
import type { EndpointSliceView } from '../kubernetes/api/endpoint-slice.ts';
import type { Store, StoreChange } from '../kubernetes/cache/store.ts';
import { ServiceReadiness } from './readiness.ts';

const slice = (ready: boolean, service = 'etcd'): EndpointSliceView => ({
  namespace: 'ns',
  service,
  mirrored: false,
  ready,
});
const mirrored = (ready: boolean): EndpointSliceView => ({ ...slice(ready), mirrored: true });

const storeOf = (entries: Readonly<Record<string, EndpointSliceView>>): Store<EndpointSliceView> => ({
  synced: true,
  get: (key) => entries[key],
  entries: () => Object.entries(entries),
  subscribe: () => () => undefined,
  whenSynced: () => Promise.resolve(),
});

const set = (key: string, value: EndpointSliceView, previous?: EndpointSliceView): StoreChange<EndpointSliceView> => ({
  type: 'set',
  key,
  value,
  ...(previous === undefined ? {} : { previous }),
});

describe('readiness of a service', () => {
  it.each([
    ['no slice', {}, false],
    ['one slice that is not ready', { a: slice(false) }, false],
    ['one that is', { a: slice(true) }, true],
    ['one of two', { a: slice(false), b: slice(true) }, true],
    ['neither of two', { a: slice(false), b: slice(false) }, false],
    ['a mirrored slice alone', { a: mirrored(true) }, true],
    ['a mirrored slice alone that is not ready', { a: mirrored(false) }, false],
    ['a mirrored slice beside one that is not ready', { a: mirrored(true), b: slice(false) }, false],
    ['a mirrored slice beside one that is ready', { a: mirrored(false), b: slice(true) }, true],
    ['another service', { a: slice(true, 'other') }, false],
  ])('with %s at the start', (_, entries, ready) => {
    expect(new ServiceReadiness(storeOf(entries)).take('ns/etcd')).toEqual({ ready, wasUnready: false });
  });

  it('lasts while one of its slices is ready', () => {
    const readiness = new ServiceReadiness(storeOf({ a: slice(true), b: slice(true) }));
    expect(readiness.observe(set('a', slice(false)))).toEqual(['ns/etcd']);
    expect(readiness.take('ns/etcd')).toEqual({ ready: true, wasUnready: false });
    readiness.observe({ type: 'deleted', key: 'b', value: slice(true) });
    expect(readiness.take('ns/etcd')).toEqual({ ready: false, wasUnready: true });
  });

  it('reports once that it was lost and regained between two observations', () => {
    const readiness = new ServiceReadiness(storeOf({ a: slice(true) }));
    readiness.observe(set('a', slice(false)));
    readiness.observe(set('a', slice(true)));
    expect(readiness.take('ns/etcd')).toEqual({ ready: true, wasUnready: true });
    expect(readiness.take('ns/etcd')).toEqual({ ready: true, wasUnready: false });
  });

  it('is not hidden by a mirrored slice that stays ready', () => {
    const readiness = new ServiceReadiness(storeOf({ stale: mirrored(true), a: slice(true) }));
    readiness.observe(set('a', slice(false)));
    expect(readiness.take('ns/etcd')).toEqual({ ready: false, wasUnready: true });
    readiness.observe(set('a', slice(true)));
    expect(readiness.take('ns/etcd')).toEqual({ ready: true, wasUnready: false });
  });

  it('does not begin with the deletion of a slice, but with the next write of a mirrored one that is left', () => {
    const readiness = new ServiceReadiness(storeOf({ stale: mirrored(true), a: slice(false) }));
    readiness.observe({ type: 'deleted', key: 'a', value: slice(false) });
    expect(readiness.take('ns/etcd').ready).toBe(false);
    readiness.observe(set('stale', mirrored(true), mirrored(true)));
    expect(readiness.take('ns/etcd').ready).toBe(true);
  });

  it('follows a slice that moves to another service', () => {
    const readiness = new ServiceReadiness(storeOf({ a: slice(true) }));
    expect(readiness.observe(set('a', slice(true, 'other'), slice(true)))).toEqual(['ns/other', 'ns/etcd']);
    expect(readiness.take('ns/etcd').ready).toBe(false);
    expect(readiness.take('ns/other').ready).toBe(true);
  });

  it('keeps no state of services without a slice', () => {
    const readiness = new ServiceReadiness(storeOf({ a: slice(true) }));
    readiness.observe({ type: 'deleted', key: 'a', value: slice(true) });
    readiness.take('ns/etcd');
    expect(readiness.keys()).toEqual([]);
  });
});
