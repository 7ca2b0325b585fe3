import { expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';
import type { Informer, StoreChange } from '../../kubernetes/cache/index.ts';
import type { NamespaceView } from './cluster-source.ts';
import { SecretClusters, type ClusterSecret } from './secret-clusters.ts';

const there: ClusterSecret = { name: 'admin', namespace: 'one', created: 0, text: 'kubeconfig', deleting: false };

/** An informer whose objects the test sets. */
const createInformerDouble = <T>(name: string) => {
  const [objects, listeners] = [new Map<string, T>(), new Set<(change: StoreChange<T>) => void>()];
  const interruption = { ms: 0 };
  const informer: Informer<T> = {
    name,
    run: () => new Promise(() => undefined),
    state: () => ({
      synced: true,
      lastError: undefined,
      problem: undefined,
    }),
    interruptedMs: () => interruption.ms,
    synced: true,
    get: (key) => objects.get(key),
    entries: () => objects.entries(),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    whenSynced: () => Promise.resolve(),
  };
  const announce = (change: StoreChange<T>): void => {
    if (change.type === 'set') objects.set(change.key, change.value);
    else objects.delete(change.key);
    for (const listener of listeners) listener(change);
  };
  return { informer, tell: announce, interruption };
};

const start = () => {
  const clock = createVirtualClock();
  const process = new SimulatedProcess(clock);
  const secrets = createInformerDouble<ClusterSecret>('secrets');
  const namespaces = createInformerDouble<NamespaceView>('namespaces');
  const clusters = new SecretClusters({
    secrets: secrets.informer,
    namespaces: namespaces.informer,
    secretName: 'admin',
    holdsElsewhere: false,
    clock: process.clock,
  });
  void clusters.run(new AbortController().signal);
  secrets.tell({ type: 'set', key: 'one/admin', value: there });
  const remove = (): void => secrets.tell({ type: 'deleted', key: 'one/admin', value: there });
  return { clock, process, clusters, secrets, namespaces, remove, isKnown: () => clusters.get('one') !== undefined };
};

it('waits for another minute if the process was suspended, because the Secret may exist again', async () => {
  const { clock, process, remove, isKnown } = start();
  remove();
  await clock.advance(10_000);
  process.suspend();
  await clock.advance(80_000);
  await process.resume();
  expect(isKnown()).toBe(true);
  await clock.advance(60_000);
  expect(isKnown()).toBe(false);
});

it('sees a cluster whose namespace was created anew, also if the watch of the Namespaces is behind that of the Secrets', () => {
  const { clusters, secrets, namespaces, remove } = start();
  const told: unknown[] = [];
  clusters.subscribe(({ value: { lifecycle } }) => told.push(lifecycle.ok && lifecycle.value.kind));
  namespaces.tell({ type: 'set', key: 'one', value: { deleting: true } });
  remove();
  secrets.tell({ type: 'set', key: 'one/admin', value: there });
  expect(told.at(-1)).toBe('stop');
  namespaces.tell({ type: 'deleted', key: 'one', value: { deleting: true } });
  expect(told.at(-1)).toBe('run');
});

it('waits as long as the Secrets are not watched', async () => {
  const { clock, secrets, remove, isKnown } = start();
  remove();
  secrets.interruption.ms = 1;
  await clock.advance(120_000);
  expect(isKnown()).toBe(true);
  secrets.interruption.ms = 0;
  await clock.advance(60_000);
  expect(isKnown()).toBe(false);
});
