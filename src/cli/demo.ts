import { type Command, defineCommand } from './command.ts';
import { type FlagType, address, bool, clusterSourceType, integer } from './flag-types.ts';
import { flag, type FlagValues } from './parse-flags.ts';
import type { BindAddress } from '../process/index.ts';
import type { CliIo } from './io.ts';

const description = `Shows the watchdogs at work in a simulated seed on this machine: the real prober and the real weeder protect three shoots. A fourth shoot is unprotected, for comparison. --shoots fills the seed with others, which the page and its buttons know, too.

It prints what happens, and the address of the prober's page, whose buttons cut shoots off from their networks and stop their etcds. Without a terminal, or with --script, a script does that for 70 seconds.`;

/** Address of the page; undefined for no page. */
const pageAddress: FlagType<BindAddress | undefined> = {
  placeholder: 'address',
  takes: `${address.takes}, or no value for 127.0.0.1:9645`,
  bare: true,
  parse: (word) => {
    const given = bool.parse(word);
    if (given === undefined) return address.parse(word);
    return { value: given.value ? { host: '127.0.0.1', port: 9645 } : undefined };
  },
};

const flags = {
  script: flag(bool, 'false', 'Run the script, even in a terminal'),
  source: flag(
    clusterSourceType,
    'gardener',
    'Cluster source: gardener or secret. With secret the seed has no Gardener',
  ),
  shoots: flag(integer({ min: 4 }), '4', 'Number of shoots in the seed: those of the demo, and others that fill it'),
  page: flag(
    pageAddress,
    'false',
    'Serve the page of the prober, with buttons for the faults, at this address; without a value at 127.0.0.1:9645',
  ),
};

/** Runs the demo and resolves with the exit code. */
export type RunDemo = (values: FlagValues<typeof flags>, io: CliIo) => Promise<number>;

export const demoCommand = (run: RunDemo): Command =>
  defineCommand({
    name: 'demo',
    summary: 'see the watchdogs at work on a simulated seed',
    description,
    flags,
    run: ({ flags: values }, io) => run(values, io),
  });
