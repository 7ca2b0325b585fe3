import { beforeEach, expect, it, vi } from 'vitest';
import type { SimKind } from '../apiserver/kind.ts';
import { simKinds } from '../apiserver/kinds.ts';
import { gardenSettings } from '../harness/settings.ts';
import type { VirtualClock } from '../time/clock.ts';
import type { FaultName } from './faults.ts';
import { planRehearsal } from './plan.ts';
import { playRehearsal } from './play.ts';

interface Storage {
  collection(kind: SimKind): {
    readonly compacted: number;
    list(): readonly unknown[];
    since(revision: number): readonly unknown[] | undefined;
  };
}

/** Storages and clocks that the rehearsal creates. */
const made = vi.hoisted(() => ({ storages: [] as Storage[], clocks: [] as VirtualClock[] }));

vi.mock('../apiserver/storage.ts', async (original) => {
  type Args = ConstructorParameters<typeof Storage>;
  const module = await original<{ Storage: new (...args: Args) => Storage }>();
  class KeptStorage extends module.Storage {
    constructor(...args: Args) {
      super(...args);
      made.storages.push(this);
    }
  }
  return { ...module, Storage: KeptStorage };
});

vi.mock('../time/clock.ts', async (original) => {
  const module = await original<{ createVirtualClock: (options: object) => VirtualClock }>();
  const createVirtualClock = (options: object): VirtualClock => {
    const clock = module.createVirtualClock(options);
    made.clocks.push(clock);
    return clock;
  };
  return { ...module, createVirtualClock };
});

beforeEach(() => {
  made.storages.length = 0;
  made.clocks.length = 0;
});

const kinds = Object.values(simKinds);

const collectionsOf = (storages: readonly Storage[]) =>
  storages.flatMap((storage) => kinds.map((kind) => storage.collection(kind)));

/**
 * Counts objects of all API servers, timers, and past changes that the API servers of the shoots keep. The seed's past is left out: its
 * API server keeps the last 5000 changes of each kind, and few objects change.
 */
const census = () => ({
  objects: collectionsOf(made.storages).reduce((sum, collection) => sum + collection.list().length, 0),
  past: collectionsOf(made.storages.slice(1)).reduce(
    (sum, collection) => sum + (collection.since(collection.compacted)?.length ?? 0),
    0,
  ),
  timers: made.clocks.reduce((sum, { pending }) => sum + pending, 0),
});

const minute = 60_000;

it.each<readonly [FaultName, boolean]>([
  ['none', true],
  ['lb', true],
  ['lb', false],
])('a rehearsal keeps no more after 15 minutes than after 5: %s, protected %s', async (fault, isProtected) => {
  const plan = planRehearsal({
    settings: gardenSettings,
    shoots: 3,
    nodes: 8,
    fault,
    durationMs: 45 * minute,
    seed: 7,
    limits: { qps: 5, burst: 10 },
  });
  if (!plan.ok) throw new Error(plan.error);
  const run = playRehearsal(plan.value, { isProtected });
  const counts = new Map<number, ReturnType<typeof census>>();
  // Shortly before the stores discard their history, when it is longest.
  for (const at of [5, 15]) made.clocks[0]!.timer(at * minute - 1, () => counts.set(at, census()));
  await run;
  expect([made.clocks.length, made.storages.length]).toEqual([1, 1 + plan.value.shoots]);
  const [early, late] = [counts.get(5)!, counts.get(15)!];
  // Leases that were renewed since the last step: one renewal more or less per node.
  expect(late.past).toBeLessThanOrEqual(early.past + 3 * 8);
  expect(late.objects).toBeLessThanOrEqual(early.objects);
  expect(late.timers).toBeLessThanOrEqual(early.timers + 3);
});
