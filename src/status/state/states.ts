interface StateMeaning {
  /** 1 is the most urgent. */
  readonly urgency: number;
  readonly about: string;
}

/** The states of a shoot, in the order of every list: the most urgent first. */
export const states = {
  'losing nodes': { urgency: 1, about: 'an outage, and something that should be down is up, or may be' },
  blind: { urgency: 2, about: 'the last probes failed, so nothing is known of it now' },
  'not protected': { urgency: 3, about: 'probed well, but an outage would not be met' },
  paused: { urgency: 3, about: 'verdicts continue, but nothing is scaled down, because somebody ordered it' },
  held: { urgency: 4, about: 'an outage, and all that should be down is down, so that healthy nodes are not replaced' },
  landing: { urgency: 5, about: 'the outage is over; the prober waits for late kubelets' },
  restoring: { urgency: 5, about: 'held resources are scaled up' },
  flapping: { urgency: 5, about: 'healthy, and an outage came soon after a restoration' },
  confirming: { urgency: 6, about: 'an outage is suspected, and a second look must confirm it' },
  healthy: { urgency: 7, about: 'enough leases are renewed' },
  'not probed': { urgency: 7, about: 'hibernated, migrating, without workers, or not probed yet' },
} as const satisfies Readonly<Record<string, StateMeaning>>;

export type ShootState = keyof typeof states;

export const shootStates = Object.keys(states) as readonly ShootState[];

/** True if a state is at least as urgent as another one. */
export const isAsUrgentAs = (state: ShootState, other: ShootState): boolean =>
  states[state].urgency <= states[other].urgency;
