import { type Command, defineCommand } from './command.ts';
import { choice, integer, positiveDuration, text } from './flag-types.ts';
import { flag, type FlagValues, requiredFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { outputFlag } from './output.ts';
import { limitFlags } from './process-flags.ts';

/** Descriptions of the faults for the help. The simulator implements them. */
const faults = {
  lb: 'the load balancer of all shoots fails, and all kubelets are cut off at once',
  nat: 'a NAT gateway fails: 4 of 5 nodes of every shoot are cut off, but the public addresses of the shoots stay reachable',
  'shoot-lb': 'the load balancer of one shoot fails',
  'api-server': 'the API servers of all shoots are down; the prober must not scale anything',
  'seed-slow': "like lb, and the seed's API server delays requests by 500 ms and rejects one in five with 429",
  restart: 'like lb, and the watchdog is killed in the middle of the outage and starts again 10 s later',
  'late-kubelets': 'like lb, and half of the kubelets reconnect a minute after the others',
  flapping: 'like lb, but in cycles: all kubelets are cut off for 35 s, then connected for 10 s',
  none: 'nothing fails; the prober must not scale anything',
} as const;

type FaultName = keyof typeof faults;

const faultNames = Object.keys(faults) as [FaultName, ...FaultName[]];

const description = `Rehearses an outage with a configuration of the prober, in virtual time and in memory: a simulated seed, the real prober with the real rate limits, and an outage that begins when every shoot has been probed and lasts a third of --duration. Prints the nodes that are lost with and without protection, and how long before it would have given up a node KCM was scaled down. Warns as dwd validate does.

With clusterSource.kind secret in the file, the simulated seed has no Gardener: it serves neither Clusters nor Machines, and has machine-controller-manager and cluster-autoscaler only if they are configured.

The simulated seed has the configured dependent resources. Those of custom kinds are not rehearsed, because only a real seed shows whether it can scale them; the output lists them. The simulator recognizes kube-controller-manager, which gives up nodes, and machine-controller-manager, which replaces machines, by their names without the name of the cluster.

The faults are:

${Object.entries(faults)
  .map(([name, what]) => `${name}: ${what}.`)
  .join('\n\n')}

The same arguments give the same output. Exits with 0 if no node was lost, and with 1 if one was lost or something was scaled down without need.`;

const flags = {
  'config-file': requiredFlag(
    text('path', 'the path of the configuration file'),
    "Path of the prober's configuration file",
  ),
  shoots: flag(integer({ min: 1 }), '250', 'Number of shoots in the seed'),
  nodes: flag(integer({ min: 1 }), '50', 'Number of nodes of each shoot'),
  fault: flag(choice<FaultName>('fault', faultNames), 'lb', 'Fault to rehearse; see above'),
  duration: flag(positiveDuration, '15m', 'Duration of the rehearsal in virtual time'),
  seed: flag(integer({ min: 0 }), '1', 'Seed of all random numbers'),
  output: outputFlag(),
  ...limitFlags,
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
