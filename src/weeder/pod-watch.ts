import { ApiError } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type PodView, decodePod } from '../kubernetes/api/pod.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { type WatchRegistry, createInformer } from '../kubernetes/cache/index.ts';
import { withPriority } from '../kubernetes/client/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import type { WeederEvent } from './events.ts';
import type { PodScope } from './judge/watches.ts';

export interface PodWatchDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly seed: Kube;
  readonly registry: WatchRegistry;
  readonly report: (event: WeederEvent) => void;
}

export interface PodWatchListeners {
  /** Called once the watch has listed all pods of its scope. */
  readonly onSynced: () => void;
  /** Called when pods of a namespace have changed. */
  readonly onChange: (namespace: string) => void;
}

/** An open watch of pods. */
export interface PodWatch {
  readonly synced: boolean;
  podsIn(namespace: string): Iterable<PodView>;
  /** Resolves when the watch has ended. */
  close(): Promise<void>;
}

const reportingErrors = (kube: Kube, report: PodWatchDeps['report']): Kube => ({
  request: async (request) => {
    try {
      const response = await kube.request(request);
      if (response.status >= 400) report({ type: 'watch-failed', code: String(response.status) });
      return response;
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 'unknown';
      if (!request.signal.aborted) report({ type: 'watch-failed', code });
      throw error;
    }
  },
});

/** Opens a watch of pods. Its requests have urgent priority, so that `--kube-api-qps` does not delay them. */
export const openPodWatch = (
  { seed, report, ...deps }: PodWatchDeps,
  { namespace, selector }: PodScope,
  { onSynced, onChange }: PodWatchListeners,
): PodWatch => {
  const informer = createInformer({
    ...deps,
    kube: reportingErrors(withPriority(seed, 'urgent'), report),
    path: resourcePath({ apiVersion: 'v1', resource: 'pods', namespace }),
    query: { labelSelector: selector },
    project: decodePod,
  });
  const byNamespace = new Map<string, Map<string, PodView>>();
  informer.subscribe(({ type, key, value }) => {
    const pods = byNamespace.get(value.namespace) ?? new Map<string, PodView>();
    if (type === 'set') pods.set(key, value);
    else pods.delete(key);
    if (pods.size > 0) byNamespace.set(value.namespace, pods);
    else byNamespace.delete(value.namespace);
    onChange(value.namespace);
  });
  const closing = new AbortController();
  // Rejects if the watch is closed before it is synced.
  informer.whenSynced(closing.signal).then(onSynced, () => undefined);
  const running = informer.run(closing.signal);
  return {
    get synced() {
      return informer.synced;
    },
    podsIn: (name) => byNamespace.get(name)?.values() ?? [],
    close: () => {
      closing.abort(new Error('the weedings that need this watch have ended'));
      return running;
    },
  };
};
