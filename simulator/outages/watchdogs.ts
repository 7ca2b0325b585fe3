import type { Random } from '../../src/ports/random.ts';
import {
  type SimulatedReplica,
  type SimulatedReplicaOptions,
  type Scenario,
  electionSettings,
  prober,
  startReplica,
  weeder,
} from '../harness/index.ts';
import type { Plan } from './plan.ts';
import { proberSettings, weederSettings } from './world-settings.ts';

/** A process of the component that a plan tests. */
export interface PlannedWatchdog extends Omit<SimulatedReplica, 'reload'> {
  /** Reloads the settings of that index, or the usual ones if undefined. */
  configure(settings: number | undefined): void;
}

export interface PlannedWatchdogOptions extends Pick<SimulatedReplicaOptions<unknown>, 'listen'> {
  readonly plan: Plan;
  readonly scenario: Scenario;
  readonly settings: number | undefined;
  readonly random: Random;
}

export const startWatchdog = ({ plan, scenario, settings, ...rest }: PlannedWatchdogOptions): PlannedWatchdog => {
  const options = { ...rest, leaderElection: electionSettings(plan.elected), dryRun: plan.dryRun };
  switch (plan.component) {
    case 'prober': {
      const replica = startReplica(prober(), scenario, { ...options, settings: proberSettings(plan, settings) });
      return { ...replica, configure: (number) => replica.reload(proberSettings(plan, number)) };
    }
    case 'weeder': {
      const replica = startReplica(weeder, scenario, { ...options, settings: weederSettings(plan, settings) });
      return { ...replica, configure: (number) => replica.reload(weederSettings(plan, number)) };
    }
  }
};
