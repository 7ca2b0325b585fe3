import { type Command, defineCommand } from './command.ts';
import { type FlagType, address, bool, text } from './flag-types.ts';
import { flag, type FlagValues, optionalFlag } from './parse-flags.ts';
import type { BindAddress } from '../process/index.ts';
import type { CliIo } from './io.ts';
import { clusterSourceType } from './source-flag.ts';

const description = `Shows the watchdogs at work, on this machine alone: a simulated seed with four shoots, the real prober and the real weeder watching over them, and a shoot that nobody watches over, for comparison.

In a terminal you cut shoots off their networks and kill their etcds yourself, and watch. Elsewhere, and with --script, the demo does it and tells what is seen, within a minute; it exits with 0 when all was seen that the watchdogs are for, and with 1 and what was not seen otherwise.`;

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
  script: flag(bool, 'false', 'Play the scripted story, in a terminal too'),
  'without-prober': flag(bool, 'false', 'Leave the prober out, to see what happens without it; the story exits with 1'),
  'without-weeder': flag(bool, 'false', 'Leave the weeder out, to see what happens without it; the story exits with 1'),
  source: flag(
    clusterSourceType,
    'gardener',
    'How clusters are found: gardener or secret. With secret the seed has never seen Gardener, and care is left out',
  ),
  page: flag(
    pageAddress,
    'false',
    'Show the page of the prober in a browser, with buttons for the faults, on port 9645 of localhost or at this address',
  ),
  'serve-world': optionalFlag(
    text('directory', 'a directory'),
    'Only serve the simulated seed until stdin ends, with its kubeconfigs in this directory, which is new or empty',
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
