import fc from 'fast-check';
import { expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../../simulator/apiserver/server.ts';
import { withFaults } from '../../../simulator/network/faults.ts';
import { createSeededRandom } from '../../../simulator/time/random.ts';
import { withBrokenBodies } from '../../../test/doubles/broken-bodies.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { createRecordingMeter } from '../../../test/doubles/recording-meter.ts';
import { decodeMeta, decodeObject } from '../api/decode.ts';
import { createInformer } from './informer.ts';
import { createWatchRegistry } from './watch-registry.ts';

const kind = simKinds.ConfigMap;

interface Kept {
  readonly resourceVersion: string;
  readonly text: unknown;
}

const project = (json: unknown, path: string): Kept => {
  const object = decodeObject(json, path);
  return {
    resourceVersion: decodeMeta(object, path).resourceVersion,
    text: decodeObject(object.data, `${path}.data`).text,
  };
};

/**
 * An informer follows a server through half an hour of writes and faults of every sort. The announced changes must always add up to
 * the content of its store, and once the faults are over the store must equal the server's objects.
 */
const survive = async (seed: number): Promise<void> => {
  const random = createSeededRandom(seed);
  const clock = createVirtualClock();
  const server = createSimApiServer({ clock, seed, historyEvents: 30 });
  const trouble = random.fork('trouble');
  let rough = true;
  const kube = withBrokenBodies(
    withFaults(server, {
      clock,
      rule: () => {
        if (!rough) return undefined;
        const dice = trouble.integer(20);
        if (dice < 2) return 'reset';
        if (dice === 2) return 'drop';
        if (dice === 3) return { status: 500 };
        if (dice === 4) return { status: 429, retryAfter: trouble.integer(20) };
        if (dice === 5) return { status: 410 };
        if (dice === 6) return { status: 504, reason: 'Timeout', message: 'Too large resource version: 9, current: 1' };
        if (dice < 9) return { delayMs: trouble.integer(40_000) };
        return undefined;
      },
    }),
    { random: random.fork('bodies'), chance: () => (rough ? 0.7 : 0), within: 12 },
  );

  const informer = createInformer({
    kube,
    clock,
    logger: createRecordingLogger(),
    random: random.fork('informer'),
    path: '/api/v1/configmaps',
    pageSize: 3,
    registry: createWatchRegistry(createRecordingMeter()),
    project,
  });
  const announced = new Map<string, Kept>();
  informer.subscribe((change) => {
    expect(change.type === 'set' ? informer.get(change.key) : undefined).toBe(
      change.type === 'set' ? change.value : undefined,
    );
    const known = announced.get(change.key);
    if (change.type === 'deleted') {
      expect(known).toBeDefined();
      announced.delete(change.key);
      return;
    }
    expect(change.previous).toBe(known);
    expect(change.value.resourceVersion).not.toBe(known?.resourceVersion);
    announced.set(change.key, change.value);
  });
  const abort = new AbortController();
  const done = informer.run(abort.signal);

  const writes = random.fork('writes');
  for (let step = 0; step < 60; step += 1) {
    for (let count = writes.integer(6); count > 0; count -= 1) {
      const ref = { namespace: 'default', name: `object-${writes.integer(8)}` };
      if (writes.integer(4) === 0) server.store.remove(kind, ref);
      else server.store.put(kind, { metadata: ref, data: { text: `${writes.next()} ä€😀` } });
    }
    if (writes.integer(20) === 0) server.store.compact();
    await clock.advance(writes.integer(60_000));
    expect(new Map(informer.entries())).toEqual(announced);
  }
  rough = false;
  await clock.advance(1_300_000);

  const truth = server.store
    .list(kind)
    .map((object) => [
      `${object.metadata.namespace ?? ''}/${object.metadata.name}`,
      { resourceVersion: object.metadata.resourceVersion, text: (object.data as { readonly text: string }).text },
    ]);
  expect(Object.fromEntries(informer.entries())).toEqual(Object.fromEntries(truth));
  expect(Object.fromEntries(announced)).toEqual(Object.fromEntries(truth));
  expect(informer.state()).toMatchObject({ synced: true, lastError: undefined });
  abort.abort();
  await done;
  await clock.settle();
  expect(clock.pending).toBe(0);
};

it("rules 12-19: an informer under random faults announces exactly its changes, and ends up with the server's objects", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), (seed) => survive(seed)),
    { numRuns: 30 },
  );
});
