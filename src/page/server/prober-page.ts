import type { Logger } from '../../ports/logger.ts';
import { type BindAddress, type Runnable, type ServerPorts, whenAborted } from '../../process/index.ts';
import type { ProberStatus } from '../../prober/status/schema.ts';
import { leaderAsker } from './leader.ts';
import { createPage } from './page.ts';
import { replicaSource } from './replica-source.ts';

export interface ProberPageOptions {
  readonly address: BindAddress;
  /** What vite has built. */
  readonly directory: URL;
  /** Where every replica serves its status; absent: nowhere, so that the leader is not asked. */
  readonly healthPort?: number | undefined;
}

/** Incident: a page without its assets ended the prober, and with it the protection of all shoots. It only shows: its failure is logged. */
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

/** The page of a prober. One that cannot be served ends nothing else. */
export const pageServers =
  ({ address, directory, healthPort }: ProberPageOptions) =>
  ({ clock, logger, status, leadership, lease, reviews: seed }: ServerPorts): readonly Runnable[] => {
    const canAsk = lease !== undefined && healthPort !== undefined;
    const source = replicaSource({
      // The prober of this process made it.
      own: (shoot) => status(new URLSearchParams(shoot === undefined ? {} : { shoot })) as ProberStatus,
      leads: () => leadership.mayWrite(),
      askLeader: canAsk ? leaderAsker({ seed, clock, lease, healthPort }) : undefined,
      clock,
    });
    return [withoutHarm(createPage({ address, directory, source, clock, logger }), logger)];
  };
