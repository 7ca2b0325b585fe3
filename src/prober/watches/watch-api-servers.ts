import { decodeReadyReplicas } from '../../gardener/api-server.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type KindWatch, type WatchKindDeps, watchKind } from '../../kubernetes/cache/index.ts';
import type { ApiServerSource } from './api-servers.ts';
import { isTemplate, ownerOf } from '../ref-template.ts';
import type { ProberSettings } from '../settings.ts';

export interface WatchedApiServer extends ApiServerSource, Pick<KindWatch<number>, 'run' | 'problem'> {
  /** `refKey` of the workload that runs the API servers. */
  readonly key: string;
}

/**
 * Watches the workloads that run the API servers of all shoots. Without this watch shoots are still protected, but later after a downtime of their API server.
 */
export const watchApiServers = (settings: ProberSettings, deps: WatchKindDeps): WatchedApiServer => {
  const { apiServerRef: ref } = settings;
  const key = refKey(ref);
  const watched = watchKind(
    {
      ref,
      ofAnyName: isTemplate(ref.name),
      key,
      project: decodeReadyReplicas,
      needsScale: false,
      onServed: (result, before) => {
        if (result.kind !== 'not-served' || before.kind === 'not-served') return;
        const fields = { resource: key, problem: result.problem };
        deps.logger.error('apiServerRef is not served: an API server out of reach is taken to be down', fields);
      },
    },
    deps,
  );
  const ownerOfKey = (found: string): string | undefined => {
    const [namespace = '', name = ''] = found.split('/');
    return ownerOf(ref, { namespace, name });
  };
  return { key, ownerOf: ownerOfKey, ...watched };
};
