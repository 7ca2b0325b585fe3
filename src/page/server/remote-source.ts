import { type ProberStatus, statusSchema } from '../../prober/status/schema.ts';
import type { Origin } from '../feed/index.ts';
import type { PageSource } from './seed-feed.ts';

/** Gets the body of another replica's `GET /status` with this query, such as `?shoot=a`. */
export type AskStatus = (query: string, signal: AbortSignal) => Promise<string>;

/** The view of another replica. Its methods reject as `ask` does, and for an answer that is no status. */
export const remoteSource = (ask: AskStatus, origin: Origin): PageSource => {
  const statusOf = async (query: string, signal: AbortSignal): Promise<ProberStatus> =>
    statusSchema.parse(JSON.parse(await ask(query, signal)));
  return {
    seed: async (signal) => ({ status: await statusOf('', signal), origin }),
    shoot: async (shoot, signal) => (await statusOf(`?${new URLSearchParams({ shoot }).toString()}`, signal)).shoots[0],
  };
};
