import { proberConfig } from '../../../src/prober/config/config.ts';
import { statusSchema } from '../../../src/status/state/schema.ts';
import { weederConfig } from '../../../src/weeder/config.ts';
import { weeder } from '../../harness/replica.ts';
import { type Scenario, createScenario } from '../../harness/scenario.ts';
import type { CareOutput } from '../care.ts';
import { demoProberConfig, demoWeederConfig } from '../configs.ts';
import type { DemoFinding } from '../findings.ts';
import { render } from '../line.ts';
import type { Watchdogs } from '../script.ts';
import { runScript } from '../scripted.ts';
import { type Pace, demoShoots, demoTiming, demoWorldSeed, twinName } from '../setting.ts';
import { Stage } from '../stage.ts';
import { leaveUnprotected } from '../world.ts';

/** The demo's world and watchdogs in memory and on virtual time; only processes and sockets are missing. */
export interface DemoFixture {
  readonly scenario: Scenario;
  readonly stage: Stage;
  readonly stop: () => Promise<void>;
}

const weederSettings = () => {
  const { settings } = weederConfig.load(demoWeederConfig, { unknownFields: 'error' });
  if (settings === undefined) throw new Error("the weeder's configuration is not valid");
  return settings;
};

export const createDemoFixture = (
  pace: Pace,
  { withProber, withWeeder, source = 'gardener' }: Watchdogs,
  seed: number,
): DemoFixture => {
  const { settings } = proberConfig.load(demoProberConfig(pace, source), { unknownFields: 'error' });
  if (settings === undefined) throw new Error("the prober's configuration is not valid");
  const scenario = createScenario({
    shoots: demoShoots.map((shoot) => ({ ...shoot, careObjects: source === 'gardener' })),
    source,
    timing: demoTiming(pace),
    seed,
    settings,
  });
  const { clock, world } = scenario;
  leaveUnprotected(world, twinName);
  if (withProber) scenario.startProber();
  if (withWeeder) scenario.start(weeder, { settings: weederSettings() });
  return {
    scenario,
    stage: new Stage({
      ...{ world, pace, now: () => clock.now() },
      readStatus: withProber ? async () => statusSchema.parse(scenario.status()) : undefined,
    }),
    stop: () => scenario.stop(),
  };
};

export interface ScriptRun {
  readonly lines: readonly string[];
  readonly findings: readonly DemoFinding[];
  readonly lastedMs: number;
}

export interface ScriptRunOptions extends Partial<Watchdogs> {
  readonly seed?: number;
  readonly interfere?: (scenario: Scenario) => void;
  /** Default: returns no shoots, at once. */
  readonly runCare?: (scenario: Scenario) => Promise<CareOutput>;
}

/** Runs the whole script. */
export const runWholeScript = async (options: ScriptRunOptions = {}): Promise<ScriptRun> => {
  const {
    withProber = true,
    withWeeder = true,
    source: worldSource = 'gardener',
    seed = demoWorldSeed,
    interfere,
  } = options;
  const { runCare = async () => ({ shoots: [] }) } = options;
  const watchdogs = { withProber, withWeeder, source: worldSource };
  const { scenario, stage, stop } = createDemoFixture('script', watchdogs, seed);
  const { clock } = scenario;
  interfere?.(scenario);
  const lines: string[] = [];
  const findings = await clock.run(
    runScript({
      stage,
      watchdogs,
      clock,
      runCare: () => runCare(scenario),
      print: (line) => lines.push(...render(line, clock.monotonic())),
      signal: new AbortController().signal,
    }),
  );
  const lastedMs = clock.monotonic();
  await stop();
  return { lines, findings, lastedMs };
};

export const seen = ({ findings }: ScriptRun): readonly boolean[] => findings.map((finding) => finding.seen);

/** The lines about one shoot, without the times. */
export const linesAbout = (lines: readonly string[], shoot: string): readonly string[] =>
  lines.flatMap((line) => {
    const [, about, text = ''] = /^ *\S+ {2}(\S+) +(.*)$/.exec(line) ?? [];
    return about === shoot ? [text] : [];
  });

/** Returns the parts that the lines do not contain after the previous part. */
export const missingFrom = (lines: readonly string[], parts: readonly string[]): readonly string[] => {
  const text = lines.join('\n');
  let from = 0;
  return parts.filter((part) => {
    const place = text.indexOf(part, from);
    if (place >= 0) from = place + 1;
    return place < 0;
  });
};
