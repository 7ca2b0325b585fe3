import { beforeEach, describe, expect, it } from 'vitest';
import type { StoreChange } from '../../kubernetes/cache/store.ts';
import type { ApiServerSource } from './api-servers.ts';
import { type ApiServers, createApiServers } from './api-servers.ts';

let now: number;
let watchedSince: number | undefined;
let tell: (change: StoreChange<number>) => void;
let apiServers: ApiServers;

beforeEach(() => {
  now = 1_000;
  watchedSince = 500;
  const source: ApiServerSource = {
    watchedSince: () => watchedSince,
    store: {
      synced: true,
      get: () => undefined,
      entries: () => [],
      whenSynced: () => Promise.resolve(),
      subscribe: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
  };
  apiServers = createApiServers(source, { monotonic: () => now });
});

const key = 'shoot--a/kube-apiserver';
const set = (value: number, previous?: number): void =>
  tell({ type: 'set', key, value, ...(previous === undefined ? {} : { previous }) });
const view = () => apiServers.view('shoot--a');

describe('the view of an API server', () => {
  it('is empty if there is none', () => {
    expect(view()).toEqual({});
    set(1);
    expect(apiServers.view('shoot--b')).toEqual({});
  });

  it('shows that it was available since the watch began', () => {
    set(2);
    now = 9_000;
    set(1, 2);
    expect(view()).toEqual({ knownSince: 500 });
  });

  it('shows nothing about the present while the watch is interrupted', () => {
    set(1);
    watchedSince = undefined;
    expect(view()).toEqual({});
    set(0, 1);
    expect(view()).toEqual({ unavailable: { since: 1_000 } });
  });

  it('shows the latest time without a ready replica', () => {
    set(1);
    now = 2_000;
    set(0, 1);
    now = 3_000;
    set(0, 0);
    expect(view().unavailable).toEqual({ since: 2_000 });
    now = 4_000;
    set(1, 0);
    now = 5_000;
    set(2, 1);
    expect(view().unavailable).toEqual({ since: 2_000, until: 4_000 });
    now = 6_000;
    set(0, 2);
    expect(view().unavailable).toEqual({ since: 6_000 });
  });

  it('has no start of a downtime that began before the watch', () => {
    set(0);
    now = 3_000;
    set(1, 0);
    expect(view().unavailable).toEqual({ since: Number.NEGATIVE_INFINITY, until: 3_000 });
  });

  it('is empty after its Deployment is deleted', () => {
    set(0);
    tell({ type: 'deleted', key, value: 0 });
    expect(view()).toEqual({});
  });
});
