import { type Command, defineCommand } from './command.ts';
import { bool, text } from './flag-types.ts';
import { flag, optionalFlag } from './flags.ts';

const description = `Shows the watchdogs at work, on this machine alone: a simulated seed with four shoots, the real prober and the real weeder watching over them, and a shoot that nobody watches over, for comparison.

In a terminal you cut shoots off their networks and kill their etcds yourself, and watch. Elsewhere, and with --script, the demo does it and tells what is seen, within a minute; it exits with 0 when all was seen that the watchdogs are for, and with 1 and what was not seen otherwise.`;

export const demoCommand: Command = defineCommand({
  name: 'demo',
  summary: 'see the watchdogs at work on a simulated seed',
  description,
  flags: {
    script: flag(bool, 'false', 'Play the scripted story, in a terminal too'),
    'without-prober': flag(
      bool,
      'false',
      'Leave the prober out, to see what happens without it; the story exits with 1',
    ),
    'without-weeder': flag(
      bool,
      'false',
      'Leave the weeder out, to see what happens without it; the story exits with 1',
    ),
    'serve-world': optionalFlag(
      text('directory', 'a directory'),
      'Only serve the simulated seed until stdin ends, with its kubeconfigs in this directory, which is new or empty',
    ),
  },
  async run({ flags }, io) {
    // Loaded when they are needed: the other commands have no use for a simulated seed.
    const directory = flags['serve-world'];
    const { terminal } = io;
    // A dumb terminal shows control sequences as they are.
    const isScripted = flags.script || io.env.TERM === 'dumb' || terminal === undefined;
    if (directory !== undefined) {
      const pace = flags.script ? 'script' : 'live';
      return (await import('./demo-world.ts')).serveDemoWorld({ directory, pace }, io);
    }
    const options = { withProber: !flags['without-prober'], withWeeder: !flags['without-weeder'] };
    if (isScripted) return (await import('./demo-show.ts')).showDemo(options, io);
    return (await import('./demo-live.ts')).playDemo(options, { io, terminal });
  },
});
