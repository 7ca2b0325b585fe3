import { styleText } from 'node:util';
import { type CliIo, CommandError } from '../../src/cli/index.ts';
import { escapeControls } from '../../src/telemetry/index.ts';
import {
  type CareReport,
  type Finding,
  type Line,
  type Tone,
  demoCrashPlan,
  demoPlan,
  introduce,
  narrate,
  render,
  tellFindings,
} from '../demo/index.ts';
import { type DemoOptions, type Play, stagePlay } from './play.ts';

const limitMs = 120_000;

const styles = { plain: undefined, good: 'green', bad: 'red', act: 'bold' } as const satisfies Record<Tone, unknown>;

/** In colour only where stdout is a terminal that wants it (`NO_COLOR`). */
const print = (io: CliIo, { tone, ...line }: Line, at: number): void => {
  const style = styles[tone];
  for (const text of render({ tone, ...line }, at)) {
    const plain = escapeControls(text);
    io.stdoutStyled(`${style === undefined ? plain : styleText(style, plain)}\n`);
  }
};

const introduction = ({ world, logs, careConfig }: Play): readonly string[] => {
  const [quiet = ''] = demoPlan(true).others;
  return introduce({
    seedKubeconfig: world.seed,
    shootKubeconfigs: world.shoots.map(({ kubeconfig }) => kubeconfig),
    quietCluster: world.shoots.find(({ name }) => name === quiet)?.namespace ?? '',
    careConfig,
    ...(logs.prober === undefined ? {} : { proberLog: logs.prober }),
    ...(logs.weeder === undefined ? {} : { weederLog: logs.weeder }),
  });
};

/** Without its usual limit of requests: who watches has no time for that. */
const askCare = async ({ ask, careConfig, world }: Play): Promise<CareReport> => {
  const limits = ['--kube-api-qps=100', '--kube-api-burst=200'];
  const flags = ['--once', '--output=json', `--config-file=${careConfig}`, `--kubeconfig=${world.seed}`, ...limits];
  return JSON.parse(await ask(['care', ...flags], [0, 1])) as CareReport;
};

const conclude = ({ io, clock, since }: Play, results: readonly Finding[]): number => {
  const at = clock.monotonic() - since;
  for (const line of tellFindings(results)) print(io, line, at);
  return results.every(({ seen }) => seen) ? 0 : 1;
};

/** `dwd demo` as its user sees it who only watches: the story from its beginning to its end. */
export const showDemo = (options: Omit<DemoOptions, 'pace'>, io: CliIo): Promise<number> =>
  stagePlay({ ...options, pace: 'script' }, io, async (play) => {
    const { clock, since, watched, isWatched, stop, withProber, withWeeder } = play;
    const cancel = clock.timer(limitMs, () => stop.abort(new CommandError('the demo did not end in time')));
    try {
      io.stdout(`${introduction(play).join('\n')}\n`);
      const results = await narrate({
        watched,
        plan: demoPlan(withProber),
        crashPlan: demoCrashPlan(withWeeder),
        clock,
        since,
        isWatched,
        askCare: () => askCare(play),
        tell: (line, at) => print(io, line, at),
        signal: stop.signal,
      });
      return conclude(play, results);
    } finally {
      cancel();
    }
  });
