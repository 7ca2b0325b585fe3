import type { RunDemo } from '../../src/cli/index.ts';
import { playDemo } from './live.ts';
import { serveDemoWorld } from './serve-world.ts';
import { showDemo } from './show.ts';

/** `dwd demo` */
export const runDemo: RunDemo = (flags, io) => {
  const directory = flags['serve-world'];
  if (directory !== undefined) return serveDemoWorld({ directory, pace: flags.script ? 'script' : 'live' }, io);
  const options = { withProber: !flags['without-prober'], withWeeder: !flags['without-weeder'] };
  const { terminal } = io;
  // A dumb terminal shows control sequences as they are.
  if (flags.script || io.env.TERM === 'dumb' || terminal === undefined) return showDemo(options, io);
  return playDemo(options, { io, terminal });
};
