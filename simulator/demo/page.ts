import type { FaultKind } from '../../src/page/feed/index.ts';
import type { PageOptions } from '../../src/page/server/index.ts';
import type { World } from '../world/index.ts';
import { demoFaults } from './faults.ts';

/** What the page shows of the faults, and does for its buttons: a POST with `?namespace=...&kind=...` injects one. */
export const faultsOnPage = (world: Pick<World, 'shoots'>): Required<Pick<PageOptions, 'faults' | 'inject'>> => ({
  faults: () =>
    world.shoots.map((shoot) => ({
      namespace: shoot.namespace,
      kubelets: shoot.isCut() ? 'cut' : 'connected',
      etcd: shoot.isEtcdDown() ? 'down' : 'up',
    })),
  inject: (query) => {
    const kind = query.get('kind') ?? '';
    const shoot = world.shoots.find(({ namespace }) => namespace === query.get('namespace'));
    if (shoot === undefined || !Object.hasOwn(demoFaults, kind)) return false;
    demoFaults[kind as FaultKind](shoot);
    return true;
  },
});
