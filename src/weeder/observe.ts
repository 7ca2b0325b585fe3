import type { Kube } from '../kubernetes/api/kube.ts';
import { type PodView, decodePod } from '../kubernetes/api/pod.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { type Informer, type InformerDeps, createInformer, indexByNamespace } from '../kubernetes/cache/index.ts';
import { withPriority } from '../kubernetes/client/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { DependentPod, Weeding } from './events.ts';
import { type PodScope, planWatches, scopeKey } from './judge/watches.ts';
import { seldom } from './seldom.ts';

export interface PodObserverDeps extends InformerDeps {
  readonly seed: Kube;
}

/** An open watch of pods. */
interface PodWatch {
  readonly informer: Informer<PodView>;
  /** Returns its pods in a namespace, by key. */
  readonly podsIn: (namespace: string) => ReadonlyMap<string, PodView>;
  /** Resolves when the watch has ended. */
  readonly close: () => Promise<void>;
}

/** Pods that a weeding must watch: those of its namespace that the selector matches. */
export interface PodNeed {
  readonly weeding: Weeding;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

/** Returns a logger that warns seldom of one error code, because many watches may fail for one reason. */
const warningSeldom = (logger: Logger, isDue: (code: unknown) => boolean): Logger => ({
  debug: (message, fields) => logger.debug(message, fields),
  info: (message, fields) => logger.info(message, fields),
  error: (message, fields) => logger.error(message, fields),
  warn: (message, fields = {}) => {
    logger[isDue(fields.code) ? 'warn' : 'debug'](message, fields);
  },
  child: (fields) => warningSeldom(logger.child(fields), isDue),
});

const scopeOf = ({ weeding, selector }: PodNeed) => ({ namespace: weeding.namespace, selector });

/** Returns the newer state of a pod, because one watch may lag behind another. Resource versions of one resource compare as numbers (KEP-5504). */
const newerOf = (known: PodView, other: PodView): PodView =>
  Number(other.resourceVersion) > Number(known.resourceVersion) ? other : known;

/** Watches the pods that weedings need, with as few watches as possible. */
export class PodObserver {
  readonly #deps: PodObserverDeps;
  readonly #onChange: (namespace: string) => void;
  /** Open watches by the keys of their scopes. */
  readonly #open = new Map<string, PodWatch>();
  readonly #closing = new Set<Promise<void>>();
  #needs: readonly PodNeed[] = [];

  /** `onChange` is called when pods of a namespace have changed. */
  constructor(deps: PodObserverDeps, onChange: (namespace: string) => void) {
    this.#deps = { ...deps, logger: warningSeldom(deps.logger, seldom(deps.clock)) };
    this.#onChange = onChange;
  }

  /** Opens and closes watches so that they cover the needs of all weedings. */
  cover(needs: readonly PodNeed[]): void {
    this.#needs = needs;
    const planned = planWatches(needs.map(scopeOf), this.#open);
    for (const [key, scope] of planned) if (!this.#open.has(key)) this.#open.set(key, this.#watch(scope));
    const used = new Set([...planned.keys(), ...needs.map((need) => this.#serving(need))]);
    for (const [key, watch] of this.#open) if (!used.has(key)) this.#close(key, watch);
  }

  /** Returns the pods seen so far for these needs, each once: in its newest state, and with the latest weeding that matches it. */
  podsOf(needs: readonly PodNeed[]): readonly DependentPod[] {
    const found = new Map<string, DependentPod>();
    for (const need of needs.toSorted((a, b) => b.weeding.readyAt - a.weeding.readyAt)) {
      const watch = this.#open.get(this.#serving(need));
      for (const pod of watch?.podsIn(need.weeding.namespace).values() ?? []) {
        const { weeding, pod: known } = found.get(pod.uid) ?? { ...need, pod };
        found.set(pod.uid, { weeding, pod: newerOf(known, pod) });
      }
    }
    return [...found.values()];
  }

  /** Resolves when all watches have ended. */
  async close(): Promise<void> {
    this.cover([]);
    await Promise.all(this.#closing);
  }

  /** Key of the watch that serves a need: that over all namespaces if it is synced, or nothing else is open. */
  #serving(need: PodNeed): string {
    const own = scopeKey(scopeOf(need));
    const everywhere = scopeKey({ selector: need.selector });
    return this.#open.get(everywhere)?.informer.synced !== true && this.#open.has(own) ? own : everywhere;
  }

  /** Opens a watch. Its requests have urgent priority, so that `--kube-api-qps` does not delay them. */
  #watch({ namespace, selector }: PodScope): PodWatch {
    const { seed, ...deps } = this.#deps;
    const informer = createInformer({
      ...deps,
      kube: withPriority(seed, 'urgent'),
      path: resourcePath({ apiVersion: 'v1', resource: 'pods', namespace }),
      query: { labelSelector: selector },
      project: decodePod,
    });
    const podsIn = indexByNamespace(informer);
    informer.subscribe(({ value }) => this.#onChange(value.namespace));
    const closing = new AbortController();
    // Rejects if the watch is closed before it is synced.
    informer.whenSynced(closing.signal).then(
      () => this.cover(this.#needs),
      () => undefined,
    );
    const ended = informer.run(closing.signal);
    const close = (): Promise<void> => {
      closing.abort(new Error('the weedings that need this watch have ended'));
      return ended;
    };
    return { informer, podsIn, close };
  }

  #close(key: string, watch: PodWatch): void {
    this.#open.delete(key);
    const closed = watch.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}
