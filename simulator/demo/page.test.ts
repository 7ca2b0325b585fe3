import { expect, it } from 'vitest';
import { faultsOnPage } from './page.ts';
import { createVirtualClock } from '../time/clock.ts';
import { createWorld } from '../world/world.ts';
import { demoShoots, shootsOfSeed } from './setting.ts';

it('fills a seed with other shoots', () => {
  expect(shootsOfSeed(6).map(({ name }) => name)).toEqual([
    ...['alpha', 'bravo', 'charlie', 'twin'],
    ...['other-001', 'other-002'],
  ]);
  expect(shootsOfSeed(0)).toEqual(demoShoots);
});

it("cuts off any shoot of the seed by the page's buttons, and no other", () => {
  const world = createWorld({ clock: createVirtualClock(), shoots: [{ name: 'other-001' }] });
  const { faults, inject } = faultsOnPage(world);
  const namespace = 'shoot--sim--other-001';
  const asked = (query: string): boolean => inject(new URLSearchParams(query));
  const refused = ['namespace=kube-system&kind=cut kubelets', `namespace=${namespace}&kind=toString`, ''];
  expect(refused.map(asked)).toEqual([false, false, false]);
  expect(faults()).toEqual([{ namespace, kubelets: 'connected', etcd: 'up' }]);
  expect(asked(`namespace=${namespace}&kind=cut kubelets`)).toBe(true);
  expect(faults()).toEqual([{ namespace, kubelets: 'cut', etcd: 'up' }]);
});
