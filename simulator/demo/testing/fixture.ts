import { proberConfig } from '../../../src/prober/config/config.ts';
import { statusSchema } from '../../../src/status/state/schema.ts';
import { weederConfig } from '../../../src/weeder/config.ts';
import { weeder } from '../../harness/replica.ts';
import { type Scenario, createScenario } from '../../harness/scenario.ts';
import type { WorldSource } from '../../world/steering.ts';
import type { LiveOptions } from '../live.ts';
import { demoProberConfig, demoShoots, demoTiming, demoWeederConfig, demoWorldSeed, twinName } from '../setting.ts';
import { leaveUnprotected } from '../world.ts';

/** The demo's world and watchdogs in memory and on virtual time; only processes and sockets are missing. */
export interface DemoFixture extends Pick<LiveOptions, 'readStatus'> {
  readonly scenario: Scenario;
}

const weederSettings = () => {
  const { settings } = weederConfig.load(demoWeederConfig, { unknownFields: 'error' });
  if (settings === undefined) throw new Error("the weeder's configuration is not valid");
  return settings;
};

export interface DemoFixtureOptions {
  /** Default: both. */
  readonly withWatchdogs?: boolean;
  readonly source?: WorldSource;
  /** Seed of the world. Default: that of the demo. */
  readonly seed?: number;
}

export const createDemoFixture = ({
  withWatchdogs = true,
  source = 'gardener',
  seed = demoWorldSeed,
}: DemoFixtureOptions = {}): DemoFixture => {
  const { settings } = proberConfig.load(demoProberConfig(source), { unknownFields: 'error' });
  if (settings === undefined) throw new Error("the prober's configuration is not valid");
  const scenario = createScenario({
    shoots: demoShoots,
    ...{ source, seed, settings, timing: demoTiming },
  });
  leaveUnprotected(scenario.world, twinName);
  if (!withWatchdogs) return { scenario };
  scenario.startProber();
  scenario.start(weeder, { settings: weederSettings() });
  return { scenario, readStatus: async () => statusSchema.parse(scenario.status()) };
};
