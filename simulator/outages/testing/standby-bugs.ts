import type { Plan } from '../plan.ts';
import { type Bug, changeFirst } from './bug.ts';

const areSeveral = ({ component, replicas }: Plan): boolean => component === 'prober' && replicas > 1;

/** True if a process ends 2 to 12 s after an outage, when a leader restores, and leases that were not renewed since are old. */
const losesTheLeaderAfterAnOutage = (plan: Plan): boolean => {
  const ends = plan.faults.flatMap(({ fault, at, forMs }) =>
    fault.kind === 'load-balancer' && forMs >= 40_000 ? [at + forMs] : [],
  );
  return (
    areSeveral(plan) &&
    plan.faults.some(
      ({ fault, at }) =>
        (fault.kind === 'kill' || fault.kind === 'stop') && ends.some((end) => at > end + 2_000 && at < end + 12_000),
    )
  );
};

const inPlace = 'a standby acts only in the place of the leader';

/** Bugs of the prober's hot standby. */
export const standbyBugs: readonly Bug[] = [
  {
    name: 'a standby does all that a leader does',
    of: 'createConfiguredProber',
    change:
      (create) =>
      (settings, deps = {}) => {
        const clientOf = deps.seedFor as (mayWrite: () => boolean) => unknown;
        const role = { leads: true, mayStandIn: false };
        return create(settings, { ...deps, role: () => role, client: clientOf(() => true) });
      },
    breaks: [inPlace, 'never two leaders writing', 'no write after leadership is lost'],
    among: areSeveral,
  },
  {
    name: 'a standby does not wait for the leader',
    of: 'permission',
    change:
      (permission) =>
      (desired, context = {}) =>
        permission(desired, {
          ...context,
          unmetSince: context.unmetSince === undefined ? undefined : Number.NEGATIVE_INFINITY,
        }),
    breaks: [inPlace],
    among: areSeveral,
  },
  {
    name: 'a restoration does not make evidence old',
    of: 'advanceShoot',
    change: changeFirst(() => ({ held: new Set() })),
    breaks: ['not down again on old evidence'],
    among: losesTheLeaderAfterAnOutage,
  },
];
