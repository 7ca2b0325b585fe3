import { clusterAutoscaler, kubeControllerManager, machineControllerManager } from '../../sim/index.ts';
import { gardenSettings } from '../settings.ts';
import type { Plan } from './plan.ts';
import { otherSettings } from './world-settings.ts';

/** What the invariants hold a watchdog to; from the specification and the plan, not from the code that is checked. */
export interface Rules {
  readonly plan: Plan;
  /** Age at which a lease is expired. */
  limitMs(shoot: string): number;
  /** The least and the most that a configuration of the plan asks for. */
  readonly fraction: number;
  readonly highestFraction: number;
  /** The longest interval between probes. */
  readonly intervalMs: number;
  /** Deployments by their level, in both directions; without those that not every configuration names. */
  readonly downLevels: readonly (readonly string[])[];
  readonly upLevels: readonly (readonly string[])[];
}

const limitOfGrace = 0.75;
const reloadsOf = ({ faults }: Plan): readonly number[] =>
  faults.flatMap(({ fault }) => (fault.kind === 'reload' ? [fault.settings] : []));

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
  return {
    plan,
    limitMs: (name) => {
      const graceMs = plan.shoots.find((shoot) => shoot.name === name)?.graceMs;
      return limitOfGrace * (graceMs ?? gardenSettings.nodeMonitorGraceMs);
    },
    fraction: Math.min(...fractions),
    highestFraction: Math.max(...fractions),
    intervalMs: Math.max(
      ...settings.map(({ probeIntervalMs, backoffJitterFactor }) => probeIntervalMs * (1 + backoffJitterFactor)),
    ),
    downLevels: named([[machineControllerManager, clusterAutoscaler], [kubeControllerManager]]),
    upLevels: named([[kubeControllerManager], [machineControllerManager], [clusterAutoscaler]]),
  };
};
