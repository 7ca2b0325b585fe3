import type { FaultKind } from '../../src/page/feed/index.ts';
import { type PagePost, type PageSource, sameOriginPost } from '../../src/page/server/index.ts';
import type { Stage } from './stage.ts';

type Seed = Pick<Stage, 'allShoots' | 'inject'>;

const kinds: readonly FaultKind[] = ['cut kubelets', 'connect kubelets', 'break etcd', 'mend etcd'];

/** Returns the data of the prober's page, and the current faults of each shoot. */
export const demoPageSource = (prober: PageSource, { allShoots }: Seed): PageSource => ({
  seed: async (signal) => {
    const view = await prober.seed(signal);
    return {
      ...view,
      faults: allShoots.map((shoot) => ({
        namespace: shoot.namespace,
        kubelets: shoot.isCut() ? 'cut' : 'connected',
        etcd: shoot.isEtcdDown() ? 'down' : 'up',
      })),
    };
  },
  shoot: (namespace, signal) => prober.shoot(namespace, signal),
});

/** Handlers of the page's buttons: a POST of `{"namespace": ..., "kind": ...}` injects a fault. */
export const demoPagePosts = (seed: Seed): ReadonlyMap<string, PagePost> =>
  new Map([
    [
      '/demo/faults',
      sameOriginPost(async (sent) => {
        const { namespace, kind: word } = (sent ?? {}) as Readonly<Record<string, unknown>>;
        const kind = kinds.find((known) => known === word);
        const shoot = seed.allShoots.find((known) => known.namespace === namespace);
        if (kind === undefined || shoot === undefined) return 'no such shoot or fault';
        seed.inject({ kind, shoot: shoot.name });
        return undefined;
      }),
    ],
  ]);
