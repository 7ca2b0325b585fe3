import { type Command, defineCommand } from './command.ts';
import { bool, text } from './flag-types.ts';
import { flag, optionalFlag } from './flags.ts';

const description = `Shows the prober at work, on this machine alone and within a minute: a simulated seed with three shoots, the real prober watching over them, and an outage of one of them.

Exits with 0 when protection and restoration were both seen, and with 1 and what was not seen otherwise.`;

export const demoCommand: Command = defineCommand({
  name: 'demo',
  summary: 'see the prober at work on a simulated seed',
  description,
  flags: {
    'without-prober': flag(bool, 'false', 'Leave the prober out, to see what happens without it; exits with 1'),
    'serve-world': optionalFlag(
      text('directory', 'a directory'),
      'Only serve the simulated seed, with its kubeconfigs in this directory, until stdin ends; the directory is removed then',
    ),
  },
  async run({ flags }, io) {
    // Loaded when they are needed: the other commands have no use for a simulated seed.
    const directory = flags['serve-world'];
    if (directory !== undefined) return (await import('./demo-world.ts')).serveDemoWorld(directory, io);
    return (await import('./demo-show.ts')).showDemo({ withProber: !flags['without-prober'] }, io);
  },
});
