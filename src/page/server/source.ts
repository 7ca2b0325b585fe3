import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { type HttpResponse, shareResponses } from '../../process/index.ts';
import { findShoot } from '../../status/state/find-shoot.ts';
import { type ProberStatus, type ShootStatus, statusSchema } from '../../status/state/schema.ts';
import { type PageSample, type PageView, type SeedView, sampleOf } from '../feed/index.ts';

/** Source of the data that the page shows. */
export interface PageSource {
  seed(signal: AbortSignal): Promise<SeedView>;
  /** Reads a shoot with its details; undefined if there is no such shoot. */
  shoot(namespace: string, signal: AbortSignal): Promise<ShootStatus | undefined>;
}

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

const sampleEveryMs = 5_000;
/** Number of samples in an hour. */
const mostSamples = 720;

/** The answer to `/view`, with the details of a shoot, given by any of its names. */
export type AnswerView = (shoot: string | undefined) => Promise<HttpResponse>;

/** Takes a sample of the seed every five seconds until `signal` aborts, and answers the page with the samples and the present view, at most once a second. */
export const createViews = (
  { source, clock, logger }: { readonly source: PageSource; readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
) => {
  const samples: PageSample[] = [];
  let lastProblem: string | undefined;
  const sample = async (): Promise<void> => {
    try {
      samples.push(sampleOf(await source.seed(signal), clock.now()));
      if (samples.length > mostSamples) samples.shift();
      lastProblem = undefined;
    } catch (error) {
      // Once, and not at every read.
      if (!signal.aborted && String(error) !== lastProblem) {
        logger.warn('page: the seed could not be read', { error });
      }
      lastProblem = String(error);
    }
  };
  const view = async (wanted: string | undefined): Promise<PageView> => {
    const seed = await source.seed(signal);
    const found = wanted === undefined ? undefined : findShoot(seed.status.shoots, wanted);
    return { ...seed, samples, shoot: found && (await source.shoot(found.namespace, signal)) };
  };
  const answer: AnswerView = shareResponses(clock, async (wanted: string | undefined) => ({
    status: 200,
    contentType: 'application/json',
    // A thousand shoots are a megabyte every two seconds, and a tenth of that packed.
    body: await promisify(gzip)(JSON.stringify(await view(wanted)), { level: 1 }),
    headers: { 'Content-Encoding': 'gzip' },
  }));
  const record = async (): Promise<void> => {
    while (!signal.aborted) {
      await sample();
      await clock.sleep(sampleEveryMs, signal).catch(() => undefined);
    }
  };
  return { answer, record };
};
