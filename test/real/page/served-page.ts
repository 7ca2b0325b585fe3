import { createPage } from '../../../src/page/server/index.ts';
import { systemClock } from '../../../src/process/index.ts';
import type { ProberStatus, ShootStatus } from '../../../src/status/state/schema.ts';
import { detailed, statusWith } from '../../doubles/probed-shoots.ts';
import { createRecordingLogger } from '../../doubles/recording-logger.ts';

export interface ServedPage {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

interface ServedSeed {
  readonly port?: number;
  /** What is different in the status of the prober. */
  readonly given?: Partial<ProberStatus>;
}

/** Serves the built page for the shoots that `shoots` returns at each moment. */
export const servePage = async (
  shoots: () => readonly ShootStatus[],
  { port = 0, given = {} }: ServedSeed = {},
): Promise<ServedPage> => {
  const status = async (namespace: string | undefined): Promise<ProberStatus> => {
    const shown =
      namespace === undefined
        ? shoots()
        : shoots()
            .filter((one) => one.namespace === namespace)
            .map(detailed);
    return { ...statusWith(shown), seed: 'aws-eu10', ...given };
  };
  const stop = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  const listening = await new Promise<number>((resolve, reject) => {
    const page = createPage({
      address: { host: '127.0.0.1', port },
      directory: new URL('../../../dist/page/', import.meta.url),
      status,
      namespace: 'garden',
      clock: systemClock(),
      logger: createRecordingLogger(),
      onListening: (address) => resolve(address.port),
    });
    ended = page.run(stop.signal, () => undefined);
    ended.catch(reject);
  });
  return {
    url: `http://127.0.0.1:${String(listening)}/`,
    port: listening,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
};
