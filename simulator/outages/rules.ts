import { matchesLabels } from '../../src/kubernetes/api/label-selectors.ts';
import { gardenSettings } from '../harness/index.ts';
import { clusterAutoscaler, kubeControllerManager, machineControllerManager } from '../world/index.ts';
import type { Plan } from './plan.ts';
import { otherSettings, otherWeederSettings, weederSettings } from './world-settings.ts';

/** Limits that the invariants apply. They derive from the specification and the plan, not from the code under test. */
export interface Rules {
  readonly plan: Plan;
  /** Returns the age at which a lease is expired. */
  limitMs(shoot: string): number;
  /** Returns the time without any renewal after which all candidates count as silent. */
  allSilentMs(shoot: string): number;
  /** Lowest and highest `nodeLeaseFailureFraction` of the plan's configurations. */
  readonly fraction: number;
  readonly highestFraction: number;
  /** The longest interval between probes. */
  readonly intervalMs: number;
  /** Deployments by level, for scaling down and up. Only those that every configuration of the plan names. */
  readonly downLevels: readonly (readonly string[])[];
  readonly upLevels: readonly (readonly string[])[];
  readonly weeding: WeedingRules;
}

type Labels = Readonly<Record<string, string>>;

export interface WeedingRules {
  /** Return the services on which a pod depends: in every configuration of the plan, and in any. */
  certainServices(labels: Labels): readonly string[];
  possibleServices(labels: Labels): readonly string[];
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** Expiry age of a lease, as a fraction of the grace period. */
const limitOfGrace = 0.75;
/** Lease duration of the simulated kubelets. */
const leaseDurationMs = 40_000;
const reloadsOf = ({ faults }: Plan): readonly number[] =>
  faults.flatMap(({ fault }) => (fault.kind === 'reload' ? [fault.settings] : []));

const weedingRules = (plan: Plan): WeedingRules => {
  const others = reloadsOf(plan).filter((index) => index < otherWeederSettings.length);
  const configurations = [undefined, ...others].map((reload) => weederSettings(plan, reload));
  const durations = configurations.map(({ watchDurationMs }) => watchDurationMs);
  const matching = configurations.map(
    ({ services }) =>
      (labels: Labels): readonly string[] =>
        services
          .filter(({ podSelectors }) => podSelectors.some((selector) => matchesLabels(selector, labels)))
          .map(({ name }) => name),
  );
  const possibleServices = (labels: Labels): readonly string[] => [
    ...new Set(matching.flatMap((servicesOf) => servicesOf(labels))),
  ];
  return {
    possibleServices,
    certainServices: (labels) =>
      possibleServices(labels).filter((name) => matching.every((servicesOf) => servicesOf(labels).includes(name))),
    shortestMs: Math.min(...durations),
    longestMs: Math.max(...durations),
  };
};

export const rulesOf = (plan: Plan): Rules => {
  const settings = [{}, ...reloadsOf(plan).map((index) => otherSettings[index] ?? {})].map((other) => ({
    ...gardenSettings,
    ...other,
  }));
  const fractions = settings.map(({ nodeLeaseFailureFraction }) => nodeLeaseFailureFraction);
  const named = (levels: readonly (readonly string[])[]): readonly (readonly string[])[] =>
    levels.map((names) =>
      names.filter((name) =>
        settings.every(({ dependentResources }) => dependentResources.some(({ ref }) => ref.name === name)),
      ),
    );
  const graceMs = (name: string): number =>
    plan.shoots.find((shoot) => shoot.name === name)?.graceMs ?? gardenSettings.nodeMonitorGraceMs;
  return {
    plan,
    limitMs: (name) => limitOfGrace * graceMs(name),
    allSilentMs: (name) => Math.max(leaseDurationMs, graceMs(name)) / 2,
    fraction: Math.min(...fractions),
    highestFraction: Math.max(...fractions),
    intervalMs: Math.max(
      ...settings.map(({ probeIntervalMs, backoffJitterFactor }) => probeIntervalMs * (1 + backoffJitterFactor)),
    ),
    downLevels: named([[machineControllerManager, clusterAutoscaler], [kubeControllerManager]]),
    upLevels: named([[kubeControllerManager], [machineControllerManager], [clusterAutoscaler]]),
    weeding: weedingRules(plan),
  };
};
