import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PodNeed, emptyPlan, planScopes, plannedScope } from './watch-plan.ts';

const need = (namespace: string, selector = 'app=a', service = 'etcd'): PodNeed => ({ namespace, service, selector });
const needs = (count: number, selector?: string): readonly PodNeed[] =>
  Array.from({ length: count }, (_, index) => need(`ns${String(index)}`, selector));
const keys = (plan: ReturnType<typeof planScopes>): readonly string[] => [...plan.scopes.keys()];

describe('planScopes', () => {
  it('opens one watch per namespace and selector while fewer than 10 weedings share the selector', () => {
    expect(keys(planScopes(needs(9), emptyPlan))).toEqual(Array.from({ length: 9 }, (_, i) => `ns${String(i)}/app=a`));
  });

  it('opens one watch over all namespaces from the tenth weeding on', () => {
    const plan = planScopes([...needs(10), need('ns0', 'app=b')], emptyPlan);
    expect(keys(plan)).toEqual(['/app=a', 'ns0/app=b']);
    expect(plan.scopes.get('/app=a')).toEqual({ selector: 'app=a' });
  });

  it('keeps the watch over all namespaces until no weeding needs the selector', () => {
    const wide = planScopes(needs(10), emptyPlan);
    const fewer = planScopes(needs(1), wide);
    expect(keys(fewer)).toEqual(['/app=a']);
    const none = planScopes([], fewer);
    expect(keys(none)).toEqual([]);
    expect(keys(planScopes(needs(1), none))).toEqual(['ns0/app=a']);
  });

  it('counts weedings: two services of one namespace are two, and a repeated need is one', () => {
    const five = needs(5);
    const both = five.flatMap((one) => [one, { ...one, service: 'api' }]);
    expect(keys(planScopes(both, emptyPlan))).toEqual(['/app=a']);
    expect(keys(planScopes([...five, ...five], emptyPlan))).toHaveLength(5);
  });

  it('covers every need by exactly one watch, and opens no other', () => {
    const arbitrary = fc.array(
      fc.record({
        namespace: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
        service: fc.constantFrom('x', 'y'),
        selector: fc.constantFrom('app=a', 'app=b'),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(fc.array(arbitrary, { minLength: 1, maxLength: 6 }), (rounds) => {
        let plan = emptyPlan;
        for (const round of rounds) {
          plan = planScopes(round, plan);
          const covering = new Set(round.map((one) => plannedScope(plan, one)));
          expect([...covering].toSorted()).toEqual(keys(plan).toSorted());
          const perSelector = keys(plan).filter((key) => key.endsWith('app=a'));
          expect(perSelector.length).toBeLessThan(10);
        }
      }),
    );
  });
});
