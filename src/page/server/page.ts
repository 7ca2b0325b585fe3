import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { type BindAddress, type Runnable, serveHttp } from '../../process/index.ts';
import { readAssets } from './assets.ts';
import { EventStreams } from './event-streams.ts';
import type { PagePost } from './guards.ts';
import { pageHandler } from './handler.ts';
import { type PageSource, SeedFeed } from './seed-feed.ts';

export interface PageOptions {
  readonly address: BindAddress;
  /** Directory with the files that vite has built. */
  readonly directory: URL;
  readonly source: PageSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Handlers of POST requests by path; none in a seed. */
  readonly posts?: ReadonlyMap<string, PagePost>;
  /** Called with the address when the server listens. */
  readonly onListening?: (address: BindAddress) => void;
}

/** Limit of open event streams. A browser tab has at most two. */
const mostStreams = 32;

/** Creates the server of the page. Its `run` rejects if the page is not built or cannot listen. */
export const createPage = (options: PageOptions): Runnable => ({
  name: 'page',
  async run(signal, ready) {
    const { address, directory, source, clock, logger, posts = new Map<string, PagePost>(), onListening } = options;
    const assets = await readAssets(directory);
    const feed = new SeedFeed({ source, clock, logger });
    const streams = new EventStreams(mostStreams, () => clock.monotonic());
    const server = serveHttp({
      name: 'page',
      address,
      flag: '--page-bind-addr',
      handle: pageHandler({ boundTo: address.host, assets, feed, streams, logger, posts }),
      takesBodies: posts.size > 0,
      ...{ clock, logger, onListening },
    });
    await Promise.all([server.run(signal, ready), feed.run(signal)]);
  },
});
