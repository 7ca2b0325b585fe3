import { beforeEach, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import type { FoundPause } from '../../annotations/pause.ts';
import type { StoreChange } from '../../kubernetes/cache/store.ts';
import type { NamespaceView } from '../clusters/cluster-source.ts';
import { Pauses } from './pauses.ts';

let clock: VirtualClock;
let told: string[];
let pauses: Pauses;
/** Shows a Namespace to the watch. */
let show: (key: string, pause?: FoundPause) => void;
/** Completes the first list. */
let listed: () => void;

const pause = (reason: string, forMs?: number): FoundPause => ({
  reason,
  by: 'kim',
  ...(forMs === undefined ? {} : { until: clock.now() + forMs }),
});

beforeEach(() => {
  clock = createVirtualClock();
  told = [];
});

/** Starts to report, with the pause of the first configuration. */
const start = (configured?: FoundPause): void => {
  let tell = (_: StoreChange<NamespaceView>): void => undefined;
  show = (key, value) => tell({ type: 'set', key, value: { deleting: false, pause: value } });
  const synced = new Promise<void>((resolve) => {
    listed = resolve;
  });
  pauses = new Pauses({
    clock,
    ownNamespace: 'garden',
    configured,
    namespaces: {
      subscribe: (listener) => {
        tell = listener;
        return () => undefined;
      },
      whenSynced: () => synced,
    },
    onChange: ({ cluster = 'all', pause: now, isFound }) =>
      told.push(`${cluster}: ${now?.reason ?? 'over'}${isFound ? ', found' : ''}`),
  });
  void pauses.report(new AbortController().signal);
};

it('pauses are reported when they begin, change and are removed, but not if they are already over', async () => {
  start();
  listed();
  await clock.settle();
  show('a', pause('old', -1));
  show('a', pause('one'));
  show('a', pause('one'));
  show('a', pause('two'));
  show('a');
  show('a');
  expect(told).toEqual(['a: one', 'a: two', 'a: over']);
});

it('pauses of the first list are in force at once, and reported as found once it is complete', async () => {
  start();
  show('a', pause('one'));
  expect([pauses.of('a')?.reason, told]).toEqual(['one', []]);
  listed();
  await clock.settle();
  expect(told).toEqual(['a: one, found']);
});

it('the pause of the first configuration is found, that of another is new', async () => {
  start(pause('first'));
  expect(told).toEqual(['all: first, found']);
  listed();
  await clock.settle();
  pauses.configure(pause('first'));
  pauses.configure(pause('second'));
  expect(told).toEqual(['all: first, found', 'all: second']);
});

it('pauses follow one another: the one that ends later continues without a report', async () => {
  start(pause('configured', 30_000));
  listed();
  await clock.settle();
  show('garden', pause('all', 90_000));
  told = [];
  await clock.advance(60_000);
  expect([told, pauses.ofAll()?.reason]).toEqual([[], 'all']);
  await clock.advance(30_000);
  expect(told).toEqual(['all: over']);
});

it('a pause of one shoot that ends or begins under a longer one of all is reported as the one in force', async () => {
  start(pause('all', 90_000));
  listed();
  await clock.settle();
  show('a', pause('one', 30_000));
  await clock.advance(60_000);
  show('a', pause('two'));
  show('a');
  expect(told).toEqual(['all: all, found', 'a: all', 'a: all', 'a: two', 'a: all']);
});
