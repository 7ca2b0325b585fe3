import type { FaultName } from '../../simulator/rehearsal/index.ts';
import { formatProblem } from '../config/index.ts';
import { formatGoDuration } from '../kubernetes/api/duration.ts';
import { proberConfig } from '../prober/index.ts';
import { type Command, defineCommand } from './command.ts';
import { CommandError, UsageError } from './errors.ts';
import { choice, integer, positiveDuration, rate, text } from './flag-types.ts';
import { flag, requiredFlag } from './flags.ts';
import type { CliIo } from './io.ts';
import { formatDocument, outputFlagWithText } from './output.ts';
import { defaultBurst, defaultQps } from './process-flags.ts';

/** For the help; what they do is in the scenario. */
const faults = {
  lb: 'the load balancer of all shoots fails: all kubelets are cut off at once',
  nat: "a NAT gateway fails: 4 of 5 nodes of every shoot are cut off, and the shoots' public addresses are still reached",
  'shoot-lb': 'the load balancer of one shoot fails',
  'api-server': 'the API servers of all shoots are down; nothing may be scaled',
  'seed-slow': "as lb, while the seed's API server takes 500 ms for a request and refuses one in five with 429",
  'clock-skew': 'as lb, with the clocks of all nodes ahead or behind by 10 minutes',
  restart: 'as lb, and the watchdog is killed in the middle of the outage and comes back 10 s later',
  none: 'nothing fails, and nothing may be scaled',
} as const satisfies Record<FaultName, string>;

const faultNames = Object.keys(faults) as [FaultName, ...FaultName[]];

const description = `Rehearses an outage with a configuration of the prober, in virtual time and in memory: a simulated seed, the real prober under the real rate limits, and an outage that begins when the shoots have settled and takes a third of the time. Tells what happens when, the margin that is left of KCM's grace period, and the nodes that are lost with and without protection; warns where the configuration cannot win.

The dependent resources are the configured ones. A kind of your own is not rehearsed, because only your seed can tell whether it can be scaled; the result says so. By name, kube-controller-manager gives up nodes and machine-controller-manager replaces machines while they are up.

The faults are:

${Object.entries(faults)
  .map(([name, what]) => `${name}: ${what}.`)
  .join('\n\n')}

The same arguments give the same output. Exits with 0 when no node was lost that the configuration could have saved, with 1 when protection failed or something was scaled down without need.`;

const flags = {
  'config-file': requiredFlag(text('path', 'the path of the configuration file'), 'Configuration of the prober'),
  shoots: flag(integer({ min: 1 }), '250', 'Shoots of the seed'),
  nodes: flag(integer({ min: 1 }), '50', 'Nodes of each shoot'),
  fault: flag(choice<FaultName>('fault', faultNames), 'lb', 'What goes wrong; see above'),
  duration: flag(positiveDuration, '15m', 'Length of the rehearsal in virtual time'),
  seed: flag(integer({ min: 0 }), '1', 'Decides everything that is random'),
  output: outputFlagWithText(),
  'kube-api-qps': flag(rate, '5.0', 'As of the prober; 0 means 5.0, -1 no limit'),
  'kube-api-burst': flag(integer({ min: 0 }), '10', 'As of the prober; 0 means 10'),
};

const loadSettings = async (file: string, io: CliIo) => {
  let config: string;
  try {
    config = await io.readFile(file);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  }
  const { settings, problems } = proberConfig.load(config, { unknownFields: 'warning', looked: 'ahead' });
  const lines = problems.map((problem) => formatProblem(file, problem));
  if (settings === undefined) throw new CommandError('the configuration is not valid', lines);
  return { settings, warnings: lines };
};

export const rehearseCommand: Command = defineCommand({
  name: 'rehearse',
  aliases: ['simulate'],
  summary: 'rehearse an outage with your configuration, in virtual time',
  description,
  flags,
  async run({ flags: values }, io) {
    const { shoots, nodes, fault, seed, output, duration: durationMs } = values;
    const { settings, warnings } = await loadSettings(values['config-file'], io);
    // Loaded when it is needed: the other commands have no use for a simulated seed.
    const { planRehearsal, rehearse, tellRehearsal } = await import('../../simulator/rehearsal/index.ts');
    const limits = { qps: values['kube-api-qps'] || defaultQps, burst: values['kube-api-burst'] || defaultBurst };
    const plan = planRehearsal({ settings, shoots, nodes, fault, durationMs, seed, limits });
    if (!plan.ok) throw new UsageError(plan.error);
    for (const warning of warnings) io.stderr(`${warning}\n`);
    const { progress } = io;
    const rehearsal = await rehearse(plan.value, ({ isProtected, playedMs }) => {
      const how = isProtected ? 'with' : 'without';
      progress?.show(`rehearsing ${how} protection: ${formatGoDuration(playedMs)} of ${formatGoDuration(durationMs)}`);
    });
    progress?.clear();
    io.stdout(output === 'table' ? tellRehearsal(rehearsal) : formatDocument(rehearsal, output));
    return rehearsal.isProtected ? 0 : 1;
  },
});
