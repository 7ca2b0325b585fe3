import { describe, expect, it } from 'vitest';
import type {
  CareExtensionKind,
  ControllerInstallation,
  ControllerRegistration,
  ExtensionReport,
} from '../../gardener/extensions.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { condition, deployment, meta, ok, shoot } from '../testing/check-input.ts';
import { createHandStore, watchedStore } from '../testing/hand-store.ts';
import { type CareSources, type Watched, observeSeed } from './seed.ts';

const namespace = 'shoot--dev--one';

const sources = (more: Partial<CareSources> = {}): CareSources => ({
  deployments: watchedStore(createHandStore()),
  etcds: watchedStore(createHandStore()),
  managedResources: watchedStore(createHandStore()),
  machineDeployments: watchedStore(createHandStore()),
  machines: watchedStore(createHandStore()),
  extensions: new Map(),
  heartbeats: watchedStore(createHandStore<Lease>()),
  garden: undefined,
  ...more,
});

const report = (name: string, type = 'local'): ExtensionReport => ({
  meta: meta(name),
  type,
  conditions: [condition('EveryNodeReady', 'True')],
});
const extensions = (
  ...kinds: readonly (readonly [CareExtensionKind, Watched<ExtensionReport>])[]
): Map<CareExtensionKind, Watched<ExtensionReport>> => new Map(kinds);
const worker = watchedStore(createHandStore({ [`${namespace}/w`]: report('w') }));

describe('objects by namespace', () => {
  it('are ordered by name, and follow their store', () => {
    const store = createHandStore({ 'a/z': 1, 'b/x': 2, 'a/b': 3, cluster: 4 });
    const watched = watchedStore(store);
    const inEach = (...namespaces: readonly string[]) => namespaces.map((one) => watched.list(one));
    expect(inEach('a', 'b', 'c', '')).toEqual([[3, 1], [2], [], [4]].map(ok));
    store.set('a/c', 5);
    store.set('a/z', 6);
    store.remove('b/x');
    store.remove('b/x');
    expect(inEach('a', 'b')).toEqual([[3, 5, 6], []].map(ok));
    store.remove('a/b');
    expect(inEach('a')).toEqual([ok([5, 6])]);
  });
});

describe('a control plane', () => {
  it('has an error for kinds whose objects are not listed', () => {
    const store = createHandStore({ [`${namespace}/a`]: deployment('a'), 'shoot--dev--two/b': deployment('b') });
    const unlisted = createHandStore<never>();
    unlisted.synced = false;
    const from = sources({
      deployments: watchedStore(store),
      etcds: watchedStore(unlisted, new Error('403 Forbidden')),
      machines: watchedStore(unlisted),
    });
    const view = observeSeed(from, namespace, shoot());
    expect(view.deployments).toEqual({ ok: true, value: [deployment('a')] });
    expect(view.etcds).toEqual({ ok: false, error: '403 Forbidden' });
    expect(view.machines).toEqual({ ok: false, error: 'they have not been listed yet' });
    expect(view.managedResources).toEqual({ ok: true, value: [] });
  });

  const found = (from: CareSources, pools = shoot().pools) =>
    observeSeed(from, namespace, shoot({ pools })).extensions.map((read) =>
      read.ok ? `${read.value.kind} ${read.value.meta.name}` : read.error,
    );

  it('has extensions of all kinds in order, and only of some kinds without workers', () => {
    const from = sources({
      extensions: extensions(
        ['Worker', worker],
        ['Extension', watchedStore(createHandStore({ [`${namespace}/e`]: report('e'), 'other/f': report('f') }))],
        ['BackupEntry', watchedStore(createHandStore({ [`${namespace}--1234`]: report('b'), other: report('c') }))],
      ),
    });
    expect(found(from)).toEqual(['Extension e', 'Worker w', 'BackupEntry b']);
    expect(found(from, [])).toEqual(['Extension e', 'BackupEntry b']);
  });

  it('has no extensions of a kind that is not served, and an error for a kind that could not be listed', () => {
    const unlisted = createHandStore<ExtensionReport>();
    unlisted.synced = false;
    const unserved = watchedStore(unlisted, new ApiError({ code: 'NotFound', status: 404, message: '404' }));
    const served = watchedStore(unlisted, new Error('403'));
    const from = sources({
      extensions: extensions(['Extension', unserved], ['Worker', served], ['BackupEntry', served]),
    });
    expect(found(from)).toEqual(['403', '403']);
  });
});

describe('the heartbeat of an extension', () => {
  const registration = (name: string, kind: string, type: string): Record<string, ControllerRegistration> => ({
    [name]: {
      name,
      resources: [
        { kind: 'Other', type },
        { kind, type },
      ],
    },
  });
  const installation = (name: string, of: string, seed: string): Record<string, ControllerInstallation> => ({
    [name]: { name, registration: of, seed },
  });
  const heartbeats = createHandStore<Lease>({
    'extension-mine/gardener-extension-heartbeat': { name: 'gardener-extension-heartbeat', renewTime: 7_000 },
    'extension-theirs/gardener-extension-heartbeat': { name: 'gardener-extension-heartbeat', renewTime: 8_000 },
    'extension-away/gardener-extension-heartbeat': { name: 'gardener-extension-heartbeat', renewTime: 9_000 },
  });
  const registrations = createHandStore({
    ...registration('theirs', 'Worker', 'aws'),
    ...registration('another', 'Network', 'local'),
    ...registration('mine', 'Worker', 'local'),
  });
  const installations = createHandStore({
    ...installation('theirs', 'theirs', 'seed'),
    ...installation('another', 'another', 'seed'),
    ...installation('away', 'mine', 'elsewhere'),
    ...installation('mine', 'mine', 'seed'),
  });
  const garden = { registrations: watchedStore(registrations), installations: watchedStore(installations) };

  const heartbeatOf = (more: Partial<CareSources>, seedName = 'seed') => {
    const from = sources({ extensions: extensions(['Worker', worker]), heartbeats: watchedStore(heartbeats), ...more });
    const [read] = observeSeed(from, namespace, shoot({ seedName })).extensions;
    return read?.ok === true ? read.value.heartbeat : undefined;
  };

  it('is that of the responsible extension on this seed', () => {
    expect(heartbeatOf({ garden })).toEqual({ kind: 'lease', renewedAt: 7 });
    expect(heartbeatOf({ garden }, 'elsewhere')).toEqual({ kind: 'lease', renewedAt: 9 });
  });

  it('is missing without a responsible extension or without its Lease, and says which', () => {
    expect(heartbeatOf({ garden }, 'nowhere')).toEqual({
      kind: 'none',
      missing: 'no ControllerInstallation of mine for the seed nowhere',
    });
    const empty = { ...garden, registrations: watchedStore(createHandStore<ControllerRegistration>()) };
    expect(heartbeatOf({ garden: empty })).toEqual({
      kind: 'none',
      missing: 'no ControllerRegistration for Worker and type "local"',
    });
    const missing = 'no heartbeat in Lease extension-mine/gardener-extension-heartbeat';
    const silent = watchedStore(createHandStore<Lease>());
    expect(heartbeatOf({ garden, heartbeats: silent })).toEqual({ kind: 'none', missing });
    const key = 'extension-mine/gardener-extension-heartbeat';
    const unrenewed = watchedStore(createHandStore<Lease>({ [key]: { name: 'gardener-extension-heartbeat' } }));
    expect(heartbeatOf({ garden, heartbeats: unrenewed })).toEqual({ kind: 'none', missing });
  });

  it('is not used without a garden, and unknown until all objects are listed', () => {
    expect(heartbeatOf({})).toEqual({ kind: 'own' });
    const unlisted = createHandStore<never>();
    unlisted.synced = false;
    const late = watchedStore(unlisted);
    for (const more of [
      { garden, heartbeats: late },
      { garden: { ...garden, registrations: late } },
      { garden: { ...garden, installations: late } },
    ]) {
      expect(heartbeatOf(more)).toEqual({ kind: 'unknown' });
    }
  });
});
