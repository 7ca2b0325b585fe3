import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { type BindAddress, type Runnable, serveHttp } from '../../process/index.ts';
import { readAssets } from './assets.ts';
import { EventStreams } from './event-streams.ts';
import { type PagePost, pageHandler } from './handler.ts';
import { type PageSource, SeedFeed } from './seed-feed.ts';

export interface PageOptions {
  readonly address: BindAddress;
  /** What vite has built. */
  readonly directory: URL;
  readonly source: PageSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** By path; none in a seed. */
  readonly posts?: ReadonlyMap<string, PagePost>;
  /** Hears the address once the server listens. */
  readonly onListening?: (address: BindAddress) => void;
}

/** Event streams at the same time; a browser tab has two at most. */
const mostStreams = 32;

/** The page as a part of the program. Fails where it is not built, or cannot listen. */
export const createPage = (options: PageOptions): Runnable => ({
  name: 'page',
  async run(signal, ready) {
    const { address, directory, source, clock, logger, posts = new Map(), onListening } = options;
    const assets = await readAssets(directory);
    const feed = new SeedFeed({ source, clock, logger });
    const streams = new EventStreams(mostStreams, () => clock.monotonic());
    const server = serveHttp({
      name: 'page',
      address,
      flag: '--page-bind-addr',
      handle: pageHandler({ boundTo: address.host, assets, source, feed, streams, logger, posts }),
      logger,
      ...(onListening && { onListening }),
    });
    await Promise.all([server.run(signal, ready), feed.run(signal)]);
  },
});
