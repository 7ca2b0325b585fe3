import type { ProcessDeps } from '../process/index.ts';
import { type WeederSettings, weederConfig } from '../weeder/index.ts';
import { type Command, defineCommand } from './command.ts';
import { launch } from './launch.ts';
import { processFlags } from './process-flags.ts';

export type RunWeeder = (deps: ProcessDeps<WeederSettings>) => Promise<number>;

const description = `Watches over services such as etcd in all namespaces of a seed. When one of them becomes ready again, the crash-looping pods that depend on it are deleted, so that they start anew at once and not after minutes of back-off.`;

export const weederCommand = (run: RunWeeder): Command =>
  defineCommand({
    name: 'weeder',
    summary: 'restart crash-looping pods when what they depend on is back',
    description,
    flags: processFlags,
    operands: 'ignored',
    run: (invocation, io) => launch({ config: weederConfig, run }, { ...invocation, io }),
  });
