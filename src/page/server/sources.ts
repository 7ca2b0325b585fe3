import { type ProberStatus, statusSchema } from '../../status/state/schema.ts';
import type { PageSource } from './seed-feed.ts';

/** Returns the status of a prober, for the shoot with this namespace or for all. */
type StatusOf = (shoot: string | undefined, signal: AbortSignal) => Promise<ProberStatus>;

/** Creates a source that shows the view of one prober. `namespace`: that of its replicas. */
export const sourceOf = (statusOf: StatusOf, namespace?: string): PageSource => ({
  seed: async (signal) => ({ status: await statusOf(undefined, signal), namespace }),
  shoot: async (shoot, signal) => (await statusOf(shoot, signal)).shoots[0],
});

/**
 * Creates a source that shows the view of a prober in another process. `ask` requests its `GET /status` with a query, such as `?shoot=a`, and resolves with the
 * body. The source rejects if `ask` does, and if the response is not a valid status.
 */
export const remoteSource = (ask: (query: string, signal: AbortSignal) => Promise<string>): PageSource =>
  sourceOf(async (shoot, signal) => {
    const query = shoot === undefined ? '' : `?${new URLSearchParams({ shoot }).toString()}`;
    return statusSchema.parse(JSON.parse(await ask(query, signal)));
  });
