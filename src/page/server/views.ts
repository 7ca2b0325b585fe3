import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { shareResponses } from '../../process/index.ts';
import { findShoot } from '../../status/state/find-shoot.ts';
import type { ProberStatus } from '../../status/state/schema.ts';
import { type FaultsOfShoot, type PageSample, type PageView, sampleOf } from '../feed/index.ts';

/** What the page shows. */
export interface PageSource {
  /** Reads the status of a prober; with a namespace, that of this shoot alone, with its details. */
  readonly status: (shoot: string | undefined, signal: AbortSignal) => Promise<ProberStatus>;
  /** Namespace of its replicas. Absent without leader election. */
  readonly namespace?: string;
  /** Present only in the demo. */
  readonly faults?: () => readonly FaultsOfShoot[];
}

const sampleEveryMs = 5_000;
/** Number of samples in an hour. */
const mostSamples = 720;

interface ViewsOptions extends PageSource {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Takes a sample of the seed every five seconds until `signal` aborts, and answers the page with the samples and the present view, at most once a second. */
export const createViews = ({ status: read, namespace, faults, clock, logger }: ViewsOptions, signal: AbortSignal) => {
  const samples: PageSample[] = [];
  let lastProblem: string | undefined;
  const sample = async (): Promise<void> => {
    try {
      samples.push(sampleOf(await read(undefined, signal), clock.now()));
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
    const status = await read(undefined, signal);
    const found = wanted === undefined ? undefined : findShoot(status.shoots, wanted);
    const shoot = found && (await read(found.namespace, signal)).shoots[0];
    return { status, shoot, samples, namespace, faults: faults?.() };
  };
  /** Answers `/view`, with the details of a shoot, given by any of its names. */
  const answer = shareResponses(clock, async (wanted: string | undefined) => ({
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
