import type { FaultKind, FaultsOfShoot } from '../../src/page/feed/index.ts';
import { type PagePost, type PageSource, sameOriginPost } from '../../src/page/server/index.ts';
import type { StatusSource } from './source.ts';

interface DemoPageDeps {
  /** Source of the prober's own page. */
  readonly prober: PageSource;
  readonly source: Pick<StatusSource, 'faults' | 'injectInto'>;
}

const kinds: readonly FaultKind[] = ['cut kubelets', 'connect kubelets', 'break etcd', 'mend etcd'];

/** Returns the data of the prober's page, and the current faults of each shoot. */
export const demoPageSource = ({ prober, source }: DemoPageDeps): PageSource => ({
  seed: async (signal) => {
    const [view, known] = await Promise.all([prober.seed(signal), source.faults(signal)]);
    const faults = [...known].map(
      ([namespace, { isCut, isEtcdDown }]): FaultsOfShoot => ({
        namespace,
        kubelets: isCut ? 'cut' : 'connected',
        etcd: isEtcdDown ? 'down' : 'up',
      }),
    );
    return { ...view, faults };
  },
  shoot: (namespace, signal) => prober.shoot(namespace, signal),
});

/** Handlers of the page's buttons: a POST of `{"namespace": ..., "kind": ...}` injects a fault. */
export const demoPagePosts = ({ source }: Pick<DemoPageDeps, 'source'>): ReadonlyMap<string, PagePost> =>
  new Map([
    [
      '/demo/faults',
      sameOriginPost(async (sent, signal) => {
        const { namespace, kind: word } = (sent ?? {}) as Readonly<Record<string, unknown>>;
        const kind = kinds.find((known) => known === word);
        const isKnown = typeof namespace === 'string' && (await source.faults(signal)).has(namespace);
        if (kind === undefined || !isKnown) return 'no such shoot or fault';
        await source.injectInto(namespace, kind, signal);
        return undefined;
      }),
    ],
  ]);
