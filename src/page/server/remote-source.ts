import { type ProberStatus, statusSchema } from '../../status/state/schema.ts';
import type { Origin } from '../feed/index.ts';
import type { PageSource } from './seed-feed.ts';

/** Requests `GET /status` of another replica with this query, such as `?shoot=a`, and resolves with the body. */
export type AskStatus = (query: string, signal: AbortSignal) => Promise<string>;

/** Creates a source that shows another replica's view. Its methods reject if `ask` does, and if the response is not a valid status. */
export const remoteSource = (ask: AskStatus, origin: Origin): PageSource => {
  const statusOf = async (query: string, signal: AbortSignal): Promise<ProberStatus> =>
    statusSchema.parse(JSON.parse(await ask(query, signal)));
  return {
    seed: async (signal) => ({ status: await statusOf('', signal), origin }),
    shoot: async (shoot, signal) => (await statusOf(`?${new URLSearchParams({ shoot }).toString()}`, signal)).shoots[0],
  };
};
