import type { Meter } from '../../ports/meter.ts';
import type { StatusRecorder } from './status-recorder.ts';

const rowsAgeMs = 500;

/** Registers a gauge of outages in which a shoot is not or not fully protected. It is computed at each scrape, not at each probe. */
export const showUnmet = (meter: Meter, recorder: StatusRecorder): void => {
  meter.gauge({
    name: 'dwd_prober_outage_unmet',
    help: '1 while the latest verdict is an outage, and no resource is held or one is still up that should be scaled down: scale-downs are paused, prevented by ignore-scaling, or failing.',
    labels: ['namespace'],
    read: () =>
      recorder.rows(rowsAgeMs).map(({ namespace, unmet = false }) => ({ value: unmet ? 1 : 0, labels: { namespace } })),
  });
};

/**
 * Registers a gauge of held resources of shoots without a prober. Only the leader reports it: another process may not know which shoots the leader's probers
 * still handle.
 */
export const showUnprobed = (
  meter: Meter,
  { recorder, leads }: { readonly recorder: StatusRecorder; readonly leads: () => boolean },
): void => {
  meter.gauge({
    name: 'dwd_prober_held_unprobed',
    help: 'Held resources of a shoot that is not probed: nothing restores them automatically. No series if there are none.',
    labels: ['namespace'],
    read: () =>
      leads()
        ? recorder.heldUnprobed().map(({ namespace, held }) => ({ value: held.length, labels: { namespace } }))
        : [],
  });
};

/** Registers a gauge of the pauses that cannot be read. `names` returns those of their namespaces. */
export const showUnreadable = (meter: Meter, names: () => readonly string[]): void => {
  meter.gauge({
    name: 'dwd_prober_pause_unreadable',
    help: '1 while the annotation that pauses a shoot, or in the namespace of the prober all shoots, cannot be read. It pauses for an hour. No series if all can be read.',
    labels: ['namespace'],
    read: () => names().map((namespace) => ({ value: 1, labels: { namespace } })),
  });
};
