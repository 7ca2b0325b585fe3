import type { ShootStatus, ProberStatus } from '../../src/status/state/schema.ts';
import type { ShootState } from '../../src/status/state/states.ts';
import { type Situation, at, before, factsIn, toldOf } from '../../src/status/state/testing/facts.ts';
import { proberOf } from '../../src/status/testing/statuses.ts';

const situations: Readonly<Partial<Record<ShootState, readonly Situation[]>>> = {
  held: ['outage', 'held'],
  landing: ['outage', 'held'],
  paused: ['paused'],
};

/** Builds a shoot as a prober reports it in its status. */
export const shootNamed = (
  name: string,
  state: ShootState = 'healthy',
  change: Partial<ShootStatus> = {},
): ShootStatus => ({ ...toldOf(factsIn(name, ...(situations[state] ?? []))), state, ...change });

/** Adds the fields that the prober reports with `?shoot=`. */
export const detailed = (shoot: ShootStatus): ShootStatus => ({
  ...shoot,
  threshold: 0.6,
  leases: Array.from({ length: shoot.candidates }, (_, index) => {
    const ageMs = shoot.expired > index ? 31_000 + 900 * index : 700 * index;
    return {
      name: `${shoot.namespace}-worker-z1-5d8f7-abc${String(index)}`,
      renewedAt: before(ageMs / 1_000),
      ageMs,
      expired: ageMs > shoot.leaseExpiryMs,
      counted: index !== 11,
      leftOut: index === 11 ? 'its machine is being deleted' : undefined,
    };
  }),
  scaling:
    shoot.held.length === 0
      ? null
      : {
          direction: 'down',
          reason: shoot.reason,
          startedAt: shoot.since ?? at,
          steps: shoot.held.map(({ kind, name }, level) => ({ kind, name, level, state: 'done' })),
        },
  decisions: Array.from({ length: 12 }, (_, index) => ({
    at: before((12 - index) * 10),
    lastAt: before((12 - index) * 10 - 5),
    runs: 2,
    verdict: index > 8 ? 'unhealthy' : 'healthy',
    reason: shoot.reason,
  })),
});

export const statusWith = (shoots: readonly ShootStatus[]): ProberStatus =>
  proberOf(shoots, { seed: undefined, identity: 'dwd-prober-7c9d8-x2x4q_5f0c1e' });
