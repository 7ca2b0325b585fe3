import { type CliIo, UsageError } from '../../src/cli/index.ts';
import { createPage, remoteSource } from '../../src/page/server/index.ts';
import type { BindAddress } from '../../src/process/index.ts';
import { createLogger } from '../../src/telemetry/index.ts';
import { type Watchdogs, demoPagePosts, demoPageSource } from '../demo/index.ts';
import { withProcesses } from './processes.ts';

/** Folder of the page's files for the browser, beside the simulator's bundle. */
const directory = new URL('page/', import.meta.url);

/** Runs `dwd demo --page` until a signal arrives; then resolves with 130. */
export const runOnPage = (watchdogs: Watchdogs, address: BindAddress, io: CliIo): Promise<number> => {
  if (!watchdogs.withProber) {
    throw new UsageError('flag --page needs the prober: remove --without-prober');
  }
  io.stdout('starting a simulated seed and its watchdogs ...\n');
  return withProcesses(
    { ...watchdogs, pace: 'live', servesStatus: true },
    io,
    async ({ source, askStatus, clock, stop: { signal } }) => {
      const logger = createLogger({ level: 'error', encoder: 'console', write: io.stderr, clock });
      const page = createPage({
        ...{ address, directory, clock, logger },
        source: demoPageSource({ source, prober: remoteSource(askStatus, { of: 'leader' }) }),
        posts: demoPagePosts({ source }),
        onListening: ({ port }) => io.stdout(`the page: http://localhost:${String(port)}/ (Ctrl-C ends the demo)\n`),
      });
      await page.run(signal, () => undefined);
      throw signal.reason;
    },
  );
};
