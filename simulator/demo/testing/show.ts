import type { Kube, KubeClient } from '../../../src/kubernetes/api/kube.ts';
import { staticCredentials, withCredentials } from '../../../src/kubernetes/client/auth.ts';
import { createKubeClient } from '../../../src/kubernetes/client/client.ts';
import { parseUntrustedKubeconfig } from '../../../src/kubernetes/kubeconfig/untrusted.ts';
import { proberConfig } from '../../../src/prober/config.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { createMeter } from '../../../src/telemetry/meter.ts';
import { weederConfig } from '../../../src/weeder/config.ts';
import { startWeeder } from '../../../src/weeder/setup.ts';
import { type LogRecord, type Scenario, createScenario } from '../../harness/harness.ts';
import { createSeededRandom } from '../../time/random.ts';
import type { WorldServer } from '../../world/endpoint.ts';
import type { CareReport } from '../care/verdicts.ts';
import { demoProberConfig, demoWeederConfig } from '../configs.ts';
import { render } from '../line.ts';
import { narrate } from '../narrate.ts';
import type { Watched } from '../observe.ts';
import { demoCrashPlan, demoPlan, demoShoots, demoTiming, demoWorldSeed, twinName } from '../setting.ts';
import type { Finding } from '../story.ts';
import { leaveUnprotected } from '../twin.ts';

export interface Show {
  readonly lines: readonly string[];
  readonly findings: readonly Finding[];
  readonly lastedMs: number;
}

export interface ShowOptions {
  readonly withProber?: boolean;
  readonly withWeeder?: boolean;
  readonly seed?: number;
  readonly meddle?: (scenario: Scenario) => void;
  /** Default: all is well, in no time. */
  readonly askCare?: (scenario: Scenario) => Promise<CareReport>;
}

const kubeOf = (api: WorldServer): Kube => {
  const { authorization } = parseUntrustedKubeconfig(api.kubeconfig());
  return withCredentials(api.kube, staticCredentials(authorization));
};

/** The real weeder in the scenario's seed. */
export const startDemoWeeder = ({ clock, world }: Scenario) => {
  const log: LogRecord[] = [];
  const { settings } = weederConfig.load(demoWeederConfig, { unknownFields: 'error' });
  if (settings === undefined) throw new Error("the weeder's configuration is not valid");
  const write = (line: string): void => void log.push(JSON.parse(line) as LogRecord);
  const weeder = startWeeder({
    settings,
    concurrency: 1,
    ports: {
      clock,
      random: createSeededRandom(0).fork('weeder'),
      logger: createLogger({ level: 'info', encoder: 'json', clock, write }),
      meter: createMeter({ processMetrics: false }),
      seed: kubeOf(world.api),
      leadership: { mayWrite: () => true },
    },
  });
  return { log, stop: () => weeder.stop() };
};

export const watchedIn = ({ clock, world }: Scenario): Watched => {
  const clientOf = (api: WorldServer): KubeClient => createKubeClient({ kube: kubeOf(api), clock });
  return {
    seed: clientOf(world.api),
    shoots: world.shoots.map(({ name, namespace, api }) => ({ name, namespace, client: clientOf(api) })),
  };
};

const namespacesIn = (log: readonly LogRecord[], message: string): number =>
  new Set(log.filter(({ msg }) => msg === message).map(({ namespace }) => namespace)).size;

/** The whole demo in memory and on virtual time; only processes and sockets are missing. */
export const runShow = async (options: ShowOptions = {}): Promise<Show> => {
  const { withProber = true, withWeeder = true, seed = demoWorldSeed, meddle } = options;
  const { askCare = async () => ({ shoots: [] }) } = options;
  const { settings } = proberConfig.load(demoProberConfig('script'), { unknownFields: 'error' });
  if (settings === undefined) throw new Error("the prober's configuration is not valid");
  const scenario = createScenario({ shoots: demoShoots, timing: demoTiming('script'), seed, settings });
  const { clock, world } = scenario;
  leaveUnprotected(world, twinName);
  if (withProber) scenario.startProber();
  const weeder = withWeeder ? startDemoWeeder(scenario) : undefined;
  meddle?.(scenario);
  const lines: string[] = [];
  const findings = await clock.run(
    narrate({
      watched: watchedIn(scenario),
      plan: demoPlan(withProber),
      crashPlan: demoCrashPlan(withWeeder),
      clock,
      since: 0,
      isWatched: () =>
        (!withProber || namespacesIn(scenario.log, 'verdict') >= demoShoots.length) &&
        (weeder === undefined || namespacesIn(weeder.log, 'weeding starts: the service is ready') >= demoShoots.length),
      askCare: () => askCare(scenario),
      tell: (line, at) => lines.push(...render(line, at)),
      signal: new AbortController().signal,
    }),
  );
  const lastedMs = clock.monotonic();
  if (weeder !== undefined) await clock.run(weeder.stop());
  await scenario.stop();
  return { lines, findings, lastedMs };
};

export const seen = ({ findings }: Show): readonly boolean[] => findings.map((finding) => finding.seen);

/** What is told of one shoot, without the times. */
export const storyOf = (lines: readonly string[], shoot: string): readonly string[] =>
  lines.flatMap((line) => {
    const [, about, text = ''] = /^ *\S+ {2}(\S+) +(.*)$/.exec(line) ?? [];
    return about === shoot ? [text] : [];
  });

/** Parts of the story that were not told, or not after the one before them. */
export const untold = (lines: readonly string[], parts: readonly string[]): readonly string[] => {
  const text = lines.join('\n');
  let from = 0;
  return parts.filter((part) => {
    const place = text.indexOf(part, from);
    if (place >= 0) from = place + 1;
    return place < 0;
  });
};
