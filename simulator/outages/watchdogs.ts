import type { Random } from '../../src/ports/random.ts';
import {
  type SimulatedReplica,
  type SimulatedReplicaOptions,
  type Scenario,
  electionSettings,
  startReplica,
  startWeederReplica,
} from '../harness/index.ts';
import type { Plan } from './plan.ts';
import { proberSettings, weederSettings } from './world-settings.ts';

/** A process of the component that a plan tests. */
export interface PlannedWatchdog extends Omit<SimulatedReplica, 'reload'> {
  /** Reloads the settings of that index, or the usual ones if undefined. */
  configure(settings: number | undefined): void;
}

export interface PlannedWatchdogOptions extends Pick<SimulatedReplicaOptions, 'listen'> {
  readonly plan: Plan;
  readonly scenario: Scenario;
  readonly settings: number | undefined;
  readonly random: Random;
}

export const startWatchdog = ({ plan, scenario, settings, ...rest }: PlannedWatchdogOptions): PlannedWatchdog => {
  const options = { ...rest, leaderElection: electionSettings(plan.elected), dryRun: plan.dryRun };
  switch (plan.component) {
    case 'prober': {
      const prober = startReplica(scenario, { ...options, settings: proberSettings(plan, settings) });
      return { ...prober, configure: (number) => prober.reload(proberSettings(plan, number)) };
    }
    case 'weeder': {
      const weeder = startWeederReplica(scenario, { ...options, settings: weederSettings(plan, settings) });
      return { ...weeder, configure: (number) => weeder.reload(weederSettings(plan, number)) };
    }
  }
};
