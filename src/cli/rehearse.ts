import { type Command, defineCommand } from './command.ts';
import { choice, integer, positiveDuration, rate, text } from './flag-types.ts';
import { flag, type FlagValues, optionalFlag, requiredFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { outputFlagWithText } from './output.ts';
import { rehearsedSourceType } from './source-flag.ts';

/** Descriptions of the faults for the help. The simulator implements them. */
const faults = {
  lb: 'the load balancer of all shoots fails: all kubelets are cut off at once',
  nat: "a NAT gateway fails: 4 of 5 nodes of every shoot are cut off, and the shoots' public addresses are still reached",
  'shoot-lb': 'the load balancer of one shoot fails',
  'api-server': 'the API servers of all shoots are down; nothing may be scaled',
  'seed-slow': "as lb, while the seed's API server takes 500 ms for a request and refuses one in five with 429",
  'clock-skew': 'as lb, with the clocks of all nodes ahead or behind by 10 minutes',
  restart: 'as lb, and the watchdog is killed in the middle of the outage and comes back 10 s later',
  'leader-dies': 'as lb, with two replicas, of which the leader is killed 18 s later and comes back after 10 s',
  'late-kubelets': 'as lb, and half of the kubelets come back a minute after the others',
  flapping: 'all kubelets are silent for 35 s, renew for 10 s, and so on',
  none: 'nothing fails, and nothing may be scaled',
} as const;

type FaultName = keyof typeof faults;

const faultNames = Object.keys(faults) as [FaultName, ...FaultName[]];

const description = `Rehearses an outage with a configuration of the prober, in virtual time and in memory: a simulated seed, the real prober under the real rate limits, and an outage that begins when the shoots have settled and takes a third of the time. Tells what happens when, the margin that is left of KCM's grace period, and the nodes that are lost with and without protection; warns where the configuration cannot win.

With clusterSource.kind secret in the file, or --source secret, the simulated seed has never seen Gardener: it serves neither Clusters nor Machines, and it has machine-controller-manager and cluster-autoscaler only where they are configured. With cluster-api it serves Clusters and Machines of Cluster API in their place, two Clusters to a namespace; --source cluster-api puts the name of the Cluster before each configured name.

The dependent resources are the configured ones. A kind of your own is not rehearsed, because only your seed can tell whether it can be scaled; the result says so. One with action annotate is, but nothing works on it. By name, that of the cluster left out, kube-controller-manager gives up nodes and machine-controller-manager replaces machines while they are up.

The faults are:

${Object.entries(faults)
  .map(([name, what]) => `${name}: ${what}.`)
  .join('\n\n')}

The same arguments give the same output. Exits with 0 when no node was lost that the configuration could have saved, with 1 when protection failed or something was scaled down without need.`;

const flags = {
  'config-file': requiredFlag(text('path', 'the path of the configuration file'), 'Configuration of the prober'),
  source: optionalFlag(
    rehearsedSourceType,
    'How clusters are found: gardener, secret or cluster-api. Without it, as the configuration file says',
  ),
  shoots: flag(integer({ min: 1 }), '250', 'Shoots of the seed'),
  nodes: flag(integer({ min: 1 }), '50', 'Nodes of each shoot'),
  fault: flag(choice<FaultName>('fault', faultNames), 'lb', 'What goes wrong; see above'),
  duration: flag(positiveDuration, '15m', 'Length of the rehearsal in virtual time'),
  seed: flag(integer({ min: 0 }), '1', 'Decides everything that is random'),
  output: outputFlagWithText(),
  'kube-api-qps': flag(rate, '5.0', 'As of the prober; 0 means 5.0, -1 no limit'),
  'kube-api-burst': flag(integer({ min: 0 }), '10', 'As of the prober; 0 means 10'),
};

/** Runs the rehearsal and resolves with the exit code. */
export type RunRehearse = (values: FlagValues<typeof flags>, io: CliIo) => Promise<number>;

export const rehearseCommand = (run: RunRehearse): Command =>
  defineCommand({
    name: 'rehearse',
    aliases: ['simulate'],
    summary: 'rehearse an outage with your configuration, in virtual time',
    description,
    flags,
    run: ({ flags: values }, io) => run(values, io),
  });
