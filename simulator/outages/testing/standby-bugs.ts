import type { Plan } from '../plan.ts';
import type { Bug } from './bug.ts';

const areSeveral = ({ component, replicas }: Plan): boolean => component === 'prober' && replicas > 1;

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
];
