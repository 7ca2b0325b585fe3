import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PodScope, planWatches, scopeKey } from './watches.ts';

const scopes = (count: number, selector = 'app=a'): readonly PodScope[] =>
  Array.from({ length: count }, (_, index) => ({ namespace: `ns${String(index)}`, selector }));
const plan = (needed: readonly PodScope[], open: ReadonlyMap<string, unknown> = new Map()) => planWatches(needed, open);
const keys = (planned: ReturnType<typeof plan>): readonly string[] => [...planned.keys()];

describe('planWatches', () => {
  it('opens one watch per namespace and selector while fewer than 10 weedings share the selector', () => {
    expect(keys(plan(scopes(9)))).toEqual(Array.from({ length: 9 }, (_, i) => `ns${String(i)}/app=a`));
  });

  it('opens one watch over all namespaces from the tenth weeding on', () => {
    const planned = plan([...scopes(10), { namespace: 'ns0', selector: 'app=b' }]);
    expect(keys(planned)).toEqual(['/app=a', 'ns0/app=b']);
    expect(planned.get('/app=a')).toEqual({ selector: 'app=a' });
  });

  it('keeps the watch over all namespaces until no weeding needs the selector', () => {
    const fewer = plan(scopes(1), plan(scopes(10)));
    expect(keys(fewer)).toEqual(['/app=a']);
    const none = plan([], fewer);
    expect(keys(none)).toEqual([]);
    expect(keys(plan(scopes(1), none))).toEqual(['ns0/app=a']);
  });

  it('counts weedings: two services of one namespace are two', () => {
    expect(keys(plan([...scopes(5), ...scopes(5)]))).toEqual(['/app=a']);
  });

  it('covers every need by exactly one watch, and opens no other', () => {
    const needed = fc.record({
      namespace: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      selector: fc.constantFrom('app=a', 'app=b'),
    });
    fc.assert(
      fc.property(fc.array(fc.array(needed, { maxLength: 40 }), { minLength: 1, maxLength: 6 }), (rounds) => {
        let planned = plan([]);
        for (const round of rounds) {
          planned = plan(round, planned);
          const covering = round.map((scope) => [scope, { selector: scope.selector }].map(scopeKey));
          for (const candidates of covering) expect(candidates.filter((key) => planned.has(key))).toHaveLength(1);
          expect(keys(planned).filter((key) => !covering.flat().includes(key))).toEqual([]);
          expect(keys(planned).filter((key) => key.endsWith('app=a')).length).toBeLessThan(10);
        }
      }),
    );
  });
});
