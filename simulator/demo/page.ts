import type { FaultKind } from '../../src/page/feed/index.ts';
import type { PageOptions } from '../../src/page/server/index.ts';
import type { Stage } from './stage.ts';

const kinds: readonly FaultKind[] = ['cut kubelets', 'connect kubelets', 'break etcd', 'mend etcd'];

/** What the page shows of the faults, and does for its buttons: a POST with `?namespace=...&kind=...` injects one. */
export const faultsOnPage = (
  seed: Pick<Stage, 'allShoots' | 'inject'>,
): Required<Pick<PageOptions, 'faults' | 'inject'>> => ({
  faults: () =>
    seed.allShoots.map((shoot) => ({
      namespace: shoot.namespace,
      kubelets: shoot.isCut() ? 'cut' : 'connected',
      etcd: shoot.isEtcdDown() ? 'down' : 'up',
    })),
  inject: (query) => {
    const kind = kinds.find((known) => known === query.get('kind'));
    const shoot = seed.allShoots.find(({ namespace }) => namespace === query.get('namespace'));
    if (kind === undefined || shoot === undefined) return false;
    seed.inject({ kind, shoot: shoot.name });
    return true;
  },
});
