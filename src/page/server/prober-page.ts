import type { Logger } from '../../ports/logger.ts';
import { type BindAddress, type Runnable, type ServerDeps, whenAborted } from '../../process/index.ts';
import type { ProberStatus } from '../../status/state/schema.ts';
import { createPage } from './page.ts';
import { leaderStatusReader, replicaSource } from './sources.ts';

export interface ProberPageOptions {
  readonly address: BindAddress;
  /** Directory with the files that vite has built. */
  readonly directory: URL;
  /** Port at which every replica serves its status. If absent, no requests are sent to the leader. */
  readonly healthPort?: number | undefined;
}

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

/** Creates the page of a prober. A failure of the page does not end the prober. */
export const pageServers =
  ({ address, directory, healthPort }: ProberPageOptions) =>
  ({ clock, logger, status, leadership, lease, reviews: seed }: ServerDeps): readonly Runnable[] => {
    const canAsk = lease !== undefined && healthPort !== undefined;
    const source = replicaSource({
      // The cast is safe: the prober of this process returns its own status.
      own: (shoot) => status(shoot) as ProberStatus,
      leads: () => leadership.mayWrite(),
      askLeader: canAsk ? leaderStatusReader({ seed, clock, lease, healthPort, pagePort: address.port }) : undefined,
      clock,
    });
    return [withoutHarm(createPage({ address, directory, source, clock, logger }), logger)];
  };
