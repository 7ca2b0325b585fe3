/**
 * Urgency of each state of a shoot, 1 is the most urgent, and the order of the states in every list.
 *
 * `losing nodes`: an outage, and something that should be down is up. `blind`: its last runs failed, so nothing is known of it now. `not protected`: probed
 * well, but an outage would not be met. `paused`: the same, because somebody ordered it. `held`: an outage, and all that should be down is down. `landing`:
 * the outage is over, and the prober waits for late kubelets. `restoring`: held resources are scaled up. `flapping`: healthy, and an outage came soon after a
 * restoration. `confirming`: an outage is suspected, and a second look must confirm it. `not probed`: hibernated, migrating, without workers and so on.
 */
export const urgencies = {
  'losing nodes': 1,
  blind: 2,
  'not protected': 3,
  paused: 3,
  held: 4,
  landing: 5,
  restoring: 5,
  flapping: 5,
  confirming: 6,
  healthy: 7,
  'not probed': 7,
} as const;

export type ShootState = keyof typeof urgencies;

/** All states, the most urgent first. */
export const shootStates = Object.keys(urgencies) as readonly ShootState[];
