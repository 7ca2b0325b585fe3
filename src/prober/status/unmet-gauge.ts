import type { Meter } from '../../ports/meter.ts';
import type { StatusBoard } from './board.ts';

const rowsAgeMs = 500;

/** Shows at every scrape, and not from probe to probe, which outages are not met. */
export const showUnmet = (meter: Meter, board: StatusBoard): void => {
  meter.gauge({
    name: 'dwd_prober_outage_unmet',
    help: '1 while the latest verdict is an outage, and nothing is held or something is up that would be scaled down: paused, kept off or failing scale-downs.',
    labels: ['namespace'],
    read: () =>
      board.rows(rowsAgeMs).map(({ namespace, unmet = false }) => ({ value: unmet ? 1 : 0, labels: { namespace } })),
  });
};
