import { readFile, readdir } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { type BindAddress, type Runnable, type ServerDeps, serveHttp, whenAborted } from '../../process/index.ts';
import type { ProberStatus } from '../../status/state/schema.ts';
import type { PagePost } from './guards.ts';
import { type Asset, pageHandler } from './handler.ts';
import { type PageSource, createViews, sourceOf } from './source.ts';

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Reads the files that vite has built into `directory`, by path: `/` and all files of `/assets`. Rejects if the page is not built. */
const readAssets = async (directory: URL): Promise<ReadonlyMap<string, Asset>> => {
  const load = async (file: string): Promise<Asset> => ({
    contentType: types[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    body: await readFile(new URL(file, directory)),
    isImmutable: file.startsWith('assets/'),
  });
  const hashed = (await readdir(new URL('assets/', directory))).map((name) => `assets/${name}`);
  const named = await Promise.all(hashed.map(async (file) => [`/${file}`, await load(file)] as const));
  return new Map([['/', await load('index.html')], ...named]);
};

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

/** Creates the server of the page. Its `run` rejects if the page is not built or cannot listen. */
export const createPage = (options: PageOptions): Runnable => ({
  name: 'page',
  async run(signal, ready) {
    const { address, directory, source, clock, logger, posts = new Map<string, PagePost>(), onListening } = options;
    const assets = await readAssets(directory);
    const views = createViews({ source, clock, logger }, signal);
    const server = serveHttp({
      name: 'page',
      address,
      flag: '--page-bind-addr',
      handle: pageHandler({ boundTo: address.host, assets, answerView: views.answer, posts }),
      takesBodies: posts.size > 0,
      ...{ clock, logger, onListening },
    });
    await Promise.all([server.run(signal, ready), views.record()]);
  },
});

/** Logs a failure of the page instead of ending the program. Incident: a page without its assets ended the prober, and so the protection of all shoots. */
const withoutHarm = (page: Runnable, logger: Logger): Runnable => ({
  name: page.name,
  run: async (signal, ready) => {
    try {
      await page.run(signal, ready);
    } catch (error) {
      if (signal.aborted) throw error;
      logger.error('the page is not served; protection goes on', { error });
      ready();
      await whenAborted(signal);
    }
  },
});

/** Creates the page of a prober, with its own view. A failure of the page does not end the prober. */
export const pageServers =
  (options: Pick<PageOptions, 'address' | 'directory'>) =>
  ({ clock, logger, status, lease }: ServerDeps): readonly Runnable[] => {
    // The cast is safe: the prober of this process returns its own status.
    const source = sourceOf(async (shoot) => status(shoot) as ProberStatus, lease?.namespace);
    return [withoutHarm(createPage({ ...options, source, clock, logger }), logger)];
  };
