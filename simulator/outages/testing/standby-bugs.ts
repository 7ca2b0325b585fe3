import type { Plan } from '../plan.ts';
import { type Bug, changeFirst, shape } from './bug.ts';

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
        const clientOf = deps.seedWithoutLead as (mayWrite: () => boolean) => unknown;
        const role = { leads: true, isHotStandby: false, silenceLimitMs: Number.POSITIVE_INFINITY };
        return create(settings, { ...deps, role: () => role, client: clientOf(() => true) });
      },
    breaks: [inPlace, 'never two leaders writing', 'no write after leadership is lost'],
    among: areSeveral,
  },
  {
    name: 'a standby does not wait for the leader',
    of: 'whyWithoutLead',
    change: changeFirst(({ now, verdict }) => ({
      verdict: { ...shape(verdict), crossedAt: Number(now) - 10_000 },
      judgedAt: Number(now) - 2_000,
    })),
    breaks: [inPlace],
    among: areSeveral,
  },
  {
    name: 'a leader that was not observed counts as silent',
    of: 'whyWithoutLead',
    change: changeFirst(({ role }) => ({ role: { ...shape(role), leaderSilentMs: 6_000 } })),
    breaks: [inPlace],
    among: areSeveral,
  },
  {
    name: 'a standby goes by timestamps alone',
    of: 'whyWithoutLead',
    change: changeFirst(() => ({ hasObservedRenewals: true })),
    breaks: [inPlace],
    among: losesTheLeaderAfterAnOutage,
    // So few plans are of this kind that the search for it generates tens of thousands.
    knownPlan: 55_653,
  },
];
