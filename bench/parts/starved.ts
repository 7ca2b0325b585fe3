// All shoots of a seed fail in the same second, and the leader has a tenth of a core: does it keep leading and scale all down within KCM's grace period?
import { waitFor } from '../../test/envtest/waiting.ts';
import { startCost } from '../harness/cost.ts';
import { electionNamespace } from '../harness/garden-config.ts';
import { type BenchOptions, type PartResult, measureEachTarget, never, partResult } from '../harness/part.ts';
import { type RestartedTarget, startRestarted } from '../harness/restarted.ts';
import type { Target } from '../harness/target.ts';
import { type Throttled, throttle } from '../harness/throttle.ts';
import { type OutageWorld, outageMs, readyLimitMs, withOutageWorld } from './outage-world.ts';
import {
  type StarvedResult,
  countLostLeads,
  longestGap,
  marginsOf,
  requestsUntilDown,
  starvedFailures,
  starvedMarkdown,
} from './starved-figures.ts';

const cpuShare = 0.1;
const usualSize = { shoots: 50, nodes: 5 };

const election = ['--enable-leader-election=true', `--leader-election-namespace=${electionNamespace}`];

interface Play extends Pick<OutageWorld, 'world' | 'size'> {
  readonly options: BenchOptions;
  readonly program: RestartedTarget;
  readonly throttled: Pick<Throttled, 'target' | 'by'> | { readonly target: Target; readonly by: 'nothing' };
}

const play = async ({ options, world, program, size, throttled }: Play): Promise<StarvedResult> => {
  const { clock } = options;
  const startedAt = clock.monotonic();
  await waitFor(
    { what: 'every shoot to be probed', withinMs: readyLimitMs, everyMs: 500 },
    async () => (await world.order('report')).fewestProbes > 0,
  );
  const readyMs = clock.monotonic() - startedAt;
  await world.order('measure');
  const endCost = startCost(clock, { program: [program.pid()] });
  const from = await world.order('cut');
  await clock.sleep(outageMs * size.scale, never);
  const { cpu, seconds } = endCost();
  const report = await world.order('report');
  const output = program.output();
  return {
    target: throttled.target.name,
    by: throttled.by,
    shoots: size.shoots,
    exits: program.exits(),
    lostLeads: countLostLeads(output),
    readyMs,
    longestRenewalGapMs: longestGap(report.requests, { from, until: clock.now() }),
    marginsMs: marginsOf(report, size.scale),
    nodesTurnedUnknown: report.nodesTurnedUnknown,
    cpuShare: cpu.program / seconds,
    requests: requestsUntilDown(report),
  };
};

const measure = (target: Target, directory: string, options: BenchOptions): Promise<StarvedResult> =>
  withOutageWorld(options, usualSize, async ({ world, size, start }) => {
    const throttled = options.quick
      ? { target, by: 'nothing' as const, end: () => undefined }
      : throttle(target, { share: cpuShare });
    try {
      const program = startRestarted(throttled.target, { ...start, directory, flags: election });
      try {
        return await play({ options, world, program, size, throttled });
      } finally {
        await program.stop();
      }
    } finally {
      throttled.end();
    }
  });

export const runStarved = async (options: BenchOptions): Promise<PartResult> => {
  const run = (target: Target, directory: string) => measure(target, directory, options);
  return partResult(await measureEachTarget('starved', options, run), starvedMarkdown, starvedFailures);
};
