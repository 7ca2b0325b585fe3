import { onTestFinished } from 'vitest';
import { type Scenario, type ScenarioOptions, createScenario } from '../../../simulator/harness/scenario.ts';

/** A seed with the shoot `a`, or with those of the options. It stops, with all that it has started, when the test has ended. */
export const createStory = (options: Partial<ScenarioOptions> = {}): Scenario => {
  const scenario = createScenario({ shoots: [{ name: 'a' }], ...options });
  onTestFinished(() => scenario.stop());
  return scenario;
};
