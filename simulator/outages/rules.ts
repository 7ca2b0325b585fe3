import { formatLabelSelector } from '../../src/kubernetes/api/label-selectors.ts';
import { parseLabelSelector } from '../apiserver/index.ts';
import { gardenSettings } from '../harness/index.ts';
import type { Plan } from './plan.ts';
import { expiryAgeMs } from './threshold.ts';
import { otherSettings, weederSettings } from './world-settings.ts';

type Labels = Readonly<Record<string, string>>;

/** Limits that the invariants apply. They derive from the specification and the plan, not from the code under test. */
export interface Rules {
  graceMs(shoot: string): number;
  /** Returns the age at which a lease is expired. */
  limitMs(shoot: string): number;
  /** Lowest and highest `nodeLeaseFailureFraction` of the plan's configurations. */
  readonly fraction: number;
  readonly highestFraction: number;
  /** Return the services on which a pod depends: in every configuration of the plan, and in any. */
  certainServices(labels: Labels): readonly string[];
  possibleServices(labels: Labels): readonly string[];
  readonly shortestWeedingMs: number;
  readonly longestWeedingMs: number;
}

export const rulesOf = (plan: Plan): Rules => {
  const reloads = plan.faults.flatMap(({ fault }) => (fault.kind === 'reload' ? [fault.settings] : []));
  const fractions = [undefined, ...reloads].map(
    (reload = -1) => otherSettings[reload]?.nodeLeaseFailureFraction ?? gardenSettings.nodeLeaseFailureFraction,
  );
  const weeders = [undefined, ...reloads].map((reload) => weederSettings(plan, reload));
  const durations = weeders.map(({ watchDurationMs }) => watchDurationMs);
  const matching = weeders.map(
    ({ services }) =>
      (labels: Labels): readonly string[] =>
        services
          .filter(({ podSelectors }) =>
            podSelectors.some((selector) => parseLabelSelector(formatLabelSelector(selector))(labels)),
          )
          .map(({ name }) => name),
  );
  const possibleServices = (labels: Labels): readonly string[] => matching.flatMap((servicesOf) => servicesOf(labels));
  const graceMs = (name: string): number =>
    plan.shoots.find((shoot) => shoot.name === name)?.graceMs ?? gardenSettings.nodeMonitorGraceMs;
  return {
    graceMs,
    limitMs: (name) => expiryAgeMs(graceMs(name)),
    fraction: Math.min(...fractions),
    highestFraction: Math.max(...fractions),
    possibleServices,
    certainServices: (labels) =>
      possibleServices(labels).filter((name) => matching.every((servicesOf) => servicesOf(labels).includes(name))),
    shortestWeedingMs: Math.min(...durations),
    longestWeedingMs: Math.max(...durations),
  };
};
