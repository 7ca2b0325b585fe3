import { type CliIo, UsageError } from '../../src/cli/index.ts';
import { createPage, remoteSource } from '../../src/page/server/index.ts';
import type { BindAddress, Runnable } from '../../src/process/index.ts';
import { createLogger } from '../../src/telemetry/index.ts';
import { type Watchdogs, demoPagePosts, demoPageSource } from '../demo/index.ts';
import { type DemoProcesses, withProcesses } from './processes.ts';

/** Folder of the page's files for the browser, beside the simulator's bundle. */
const directory = new URL('page/', import.meta.url);

/** Creates the page of the demo. It prints its address once it is served. */
export const demoPage = (
  { stage, askStatus, clock }: Pick<DemoProcesses, 'stage' | 'askStatus' | 'clock'>,
  { address, io }: { readonly address: BindAddress; readonly io: CliIo },
): Runnable =>
  createPage({
    ...{
      address,
      directory,
      clock,
      logger: createLogger({ level: 'error', encoder: 'console', write: io.stderr, clock }),
    },
    source: demoPageSource(remoteSource(askStatus), stage),
    posts: demoPagePosts(stage),
    onListening: ({ port }) => io.stdout(`the page: http://localhost:${String(port)}/\n`),
  });

/** Runs `dwd demo --page` until a signal arrives; then resolves with 130. */
export const runOnPage = (watchdogs: Watchdogs, address: BindAddress, io: CliIo): Promise<number> => {
  if (!watchdogs.withProber) {
    throw new UsageError('flag --page needs the prober: remove --without-prober');
  }
  io.stdout('starting a simulated seed and its watchdogs; Ctrl-C ends the demo ...\n');
  return withProcesses({ ...watchdogs, pace: 'live' }, io, async (processes) => {
    const { signal } = processes.stop;
    await demoPage(processes, { address, io }).run(signal, () => undefined);
    throw signal.reason;
  });
};
