import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shootNamed, statusWith } from '../../../test/doubles/probed-shoots.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { type SeedView, changesSince, sampleOf, seedAfter, textsOf, fullMessageOf } from './index.ts';

const shootOf = (name: string, change: Partial<ShootStatus> = {}): ShootStatus =>
  shootNamed(name, change.state, { namespace: name, held: [], marginMs: undefined, since: undefined, ...change });

const viewOf = (shoots: readonly ShootStatus[]): SeedView => ({ status: statusWith(shoots) });

const views = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat({ max: 3 })), { selector: ([name]) => name })
  .map((shoots) => viewOf(shoots.map(([name, expired]) => shootOf(name, { expired }))));

/** Returns the value after its way to the browser as JSON. */
const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const bySpace = (view: SeedView | undefined): unknown =>
  view && {
    ...view,
    status: { ...view.status, shoots: view.status.shoots.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1)) },
  };

describe('changes of a seed', () => {
  it('turn the old seed into the new one', () => {
    fc.assert(
      fc.property(views, views, (before, after) => {
        const known = seedAfter(undefined, sent(fullMessageOf(before)));
        expect(bySpace(seedAfter(known, sent(changesSince(textsOf(before), after))))).toEqual(bySpace(sent(after)));
      }),
      { numRuns: 300 },
    );
  });

  it('leave out unchanged shoots', () => {
    const [a, b] = [shootOf('a'), shootOf('b')];
    const before = viewOf([a, b, shootOf('c')]);
    const after = viewOf([a, { ...b, expired: 1 }]);
    const { shoots, gone, status } = changesSince(textsOf(before), after);
    expect([shoots.map(({ namespace }) => namespace), gone, status.at]).toEqual([['b'], ['c'], after.status.at]);
  });

  it('are ignored without a seed to apply them to', () => {
    expect(seedAfter(undefined, changesSince(new Map(), viewOf([])))).toBeUndefined();
  });
});

describe('a sample', () => {
  it('has the number of shoots by state, and the shortest margin of those that are held', () => {
    const held = [{ kind: 'Deployment', name: 'kcm', replicas: 1 }];
    const view = viewOf([
      shootOf('a', { state: 'held', held, marginMs: 7_000 }),
      shootOf('b', { state: 'held', held, marginMs: 4_000 }),
      shootOf('c', { marginMs: 1_000 }),
    ]);
    expect(sampleOf(view, 5)).toEqual({
      at: 5,
      counts: { held: 2, healthy: 1 },
      margin: { ms: 4_000, graceMs: 40_000 },
    });
  });

  it('has no number and no margin for a seed without shoots', () => {
    expect(sampleOf(viewOf([]), 5)).toEqual({ at: 5, counts: {} });
  });
});
