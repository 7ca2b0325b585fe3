import type { FaultKind } from '../../src/page/feed/index.ts';
import type { PageOptions } from '../../src/page/server/index.ts';
import type { World, WorldShoot } from '../world/index.ts';

/** A fault that the demo injects into a shoot, or its repair. A user can do the same with kubectl, by annotations on the Cluster or Namespace. */
export const demoFaults: Readonly<Record<FaultKind, (shoot: WorldShoot) => void>> = {
  'cut kubelets': (shoot) => shoot.cutKubelets(),
  'connect kubelets': (shoot) => shoot.restoreKubelets(),
  'break etcd': (shoot) => shoot.breakEtcd(),
  'mend etcd': (shoot) => shoot.mendEtcd(),
};

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
