// etcd of all shoots of a seed comes back in the same second: how long until the last crash-looping pod is deleted?
import { waitFor } from '../../test/envtest/waiting.ts';
import { cpuSecondsOf, cpuSecondsOfAll, usageOf } from '../support/cpu.ts';
import { type BenchOptions, inScratch, type PartResult } from '../support/part.ts';
import { type Served, startServed } from '../../test/envtest/served.ts';
import { type RunningTarget, startTarget, type Target } from '../support/target.ts';
import { type Answer, etcdService, podsPerShoot, type Report } from './protocol.ts';
import { failuresOf, type Result, tell } from './tell.ts';

const [defaultShoots, quickShoots] = [250, 3];
const [idleMs, quickIdleMs] = [10_000, 1_000];
const readyLimitMs = 60_000;
const deleteLimitMs = 180_000;

const config = `servicesAndDependantSelectors:
  ${etcdService}:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
`;

const never = new AbortController().signal;

interface Play {
  readonly options: BenchOptions;
  readonly world: Served<Answer>;
  readonly program: RunningTarget;
  readonly shoots: number;
}

const until = (
  what: string,
  { world, program }: Play,
  wait: { readonly withinMs: number; readonly isDone: (report: Report) => boolean },
): Promise<Report> =>
  waitFor({ what, withinMs: wait.withinMs, everyMs: 200 }, async () => {
    program.check();
    const report = await world.order('report');
    return wait.isDone(report) ? report : undefined;
  });

const play = async (target: Target, context: Play): Promise<Result> => {
  const { options, world, program, shoots } = context;
  const { clock, quick } = options;
  await until(`${target.name} to watch the services`, context, {
    withinMs: readyLimitMs,
    isDone: ({ requests }) => ['endpointslices', 'endpoints'].some((kind) => (requests[`watch ${kind}`] ?? 0) > 0),
  });
  await clock.sleep(quick ? quickIdleMs : idleMs, never);
  const idle = await world.order('report');
  const [cpuBefore, worldBefore, allBefore] = [
    usageOf(program.pid).cpuSeconds,
    cpuSecondsOf(world.pid),
    cpuSecondsOfAll(),
  ];
  const { at } = await world.order('recover');
  const report = await until('all pods to be deleted', context, {
    withinMs: deleteLimitMs,
    isDone: ({ deletedAt }) => deletedAt.length >= shoots * podsPerShoot,
  });
  const { cpuSeconds: cpuAfter, peakBytes } = usageOf(program.pid);
  const cpuSeconds = cpuAfter - cpuBefore;
  const worldCpuSeconds = cpuSecondsOf(world.pid) - worldBefore;
  return {
    target: target.name,
    shoots,
    delays: report.deletedAt.map((deleted) => deleted - at),
    seconds: (clock.now() - at) / 1_000,
    idle,
    report,
    cpuSeconds,
    worldCpuSeconds,
    otherCpuSeconds: cpuSecondsOfAll() - allBefore - cpuSeconds - worldCpuSeconds,
    peakBytes,
  };
};

const run = (target: Target, options: BenchOptions): Promise<Result> =>
  inScratch(async (directory) => {
    const shoots = options.shoots ?? (options.quick ? quickShoots : defaultShoots);
    const world = startServed<Answer>(new URL('./world.ts', import.meta.url), [String(shoots)]);
    let program: RunningTarget | undefined;
    try {
      const { kubeconfig } = await world.answer('ready');
      program = startTarget(target, { component: 'weeder', config, kubeconfig, directory });
      options.say(`mass recovery: ${target.name}, ${String(shoots)} shoots`);
      return await play(target, { options, world, program, shoots });
    } finally {
      await program?.stop();
      await world.end();
    }
  });

export const runMassRecovery = async (options: BenchOptions): Promise<PartResult> => {
  const results: Result[] = [];
  for (const target of options.targets) results.push(await run(target, options));
  return {
    markdown: tell(results),
    missed: results.flatMap((result) => failuresOf(result).map((failure) => `${result.target}: ${failure}`)),
    json: results,
  };
};
