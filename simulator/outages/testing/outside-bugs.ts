import type { Plan } from '../plan.ts';
import { type Bug, shape } from './bug.ts';

const unevidenced = ['no scale-down without evidence'];
const isConfirmed = ({ outside }: Plan): boolean => outside === 'confirm';
const isTriggered = ({ outside }: Plan): boolean => outside === 'trigger';
/** True if the watchdog's own outbound network fails. */
const isAlone = (plan: Plan): boolean =>
  isTriggered(plan) &&
  plan.faults.some(({ fault }) =>
    fault.kind === 'public-way' ? fault.shoot === undefined : fault.kind === 'partition' && fault.server === 'outside',
  );

export const outsideBugs: readonly Bug[] = [
  {
    name: 'a reachable address does not veto',
    of: 'veto',
    change: () => () => undefined,
    breaks: unevidenced,
    among: isConfirmed,
    knownPlan: 98,
  },
  {
    name: 'most paths being broken is no fault of ours',
    of: 'createExternalProbeRegistry',
    change:
      (createExternalProbeRegistry) =>
      (...args) => ({ ...shape(createExternalProbeRegistry(...args)), faultIsOurs: () => false }),
    breaks: unevidenced,
    among: isAlone,
  },
  {
    name: 'one failed try is enough',
    of: 'enterAttempt',
    change:
      (enterAttempt) =>
      (path = {}, ended = {}, settings = {}) =>
        enterAttempt(path, ended, { ...settings, failureThreshold: 1 }),
    breaks: unevidenced,
    among: isTriggered,
  },
  {
    name: 'a broken path is enough',
    of: 'judgeTrigger',
    change:
      (judgeTrigger) =>
      (known = {}, input) => {
        const candidates = (known.candidates as readonly object[]).map((lease) => ({ ...lease, silent: true }));
        return judgeTrigger({ ...known, candidates }, input);
      },
    breaks: unevidenced,
    among: isTriggered,
  },
];
