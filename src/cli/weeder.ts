import type { ProcessDeps } from '../process/index.ts';
import { type WeederSettings, weederConfig } from '../weeder/index.ts';
import { type Command, defineCommand } from './command.ts';
import { launch } from './launch.ts';
import { processFlags } from './process-flags.ts';

export type RunWeeder = (deps: ProcessDeps<WeederSettings>) => Promise<number>;

const description = `Watches services such as etcd in all namespaces of a seed. When a service becomes ready again, the weeder deletes the crash-looping pods that depend on it, so that they are replaced at once instead of restarting after minutes of back-off.`;

export const weederCommand = (run: RunWeeder): Command =>
  defineCommand({
    name: 'weeder',
    summary: 'restart crash-looping pods when a dependency is ready again',
    description,
    flags: processFlags,
    operands: 'ignored',
    run: (invocation, io) => launch({ config: weederConfig, run }, { ...invocation, io }),
  });
