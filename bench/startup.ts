// Measures the cost of a start until the first line of the log, and the memory of an idle prober and weeder.
import { systemClock } from '../src/process/clock.ts';
import { count, readFlags, runCommand, say, write } from './harness/command.ts';
import { startHealthyWorld } from './harness/healthy-world.ts';
import { withTempDirectory } from './harness/part.ts';
import { type Target, ownTarget } from './harness/target.ts';
import { type IdleRow, type StartRow, idleTable, missedBy, startsTable } from './parts/startup-figures.ts';
import { type MeasuredComponent, measureBareNode, measureIdle, measureStarts } from './parts/startup-measure.ts';

const components: readonly MeasuredComponent[] = ['prober', 'weeder'];
const clock = systemClock();

const usage = `usage: node bench/startup.ts [--target "CMD"] [--runs N] [--idle SECONDS] [--shoots N]

  --target "CMD"   another program that takes the same flags, measured beside bin/dwd
  --runs N         starts of each (default 15)
  --idle SECONDS   after which the memory is read (default 60)
  --shoots N       of 10 nodes, in the seed that is watched over (default 10)`;

interface CommandLine {
  readonly target: string | undefined;
  readonly runs: number;
  readonly idleMs: number;
  readonly shoots: number;
}

const readCommandLine = (): CommandLine => {
  const values = readFlags(['target', 'runs', 'idle', 'shoots']);
  return {
    target: values.target,
    runs: count('runs', values.runs) ?? 15,
    idleMs: (count('idle', values.idle) ?? 60) * 1_000,
    shoots: count('shoots', values.shoots) ?? 10,
  };
};

/** The NODE_OPTIONS that the image and the manifests set. */
const nodeOptions = '--max-semi-space-size=8';

const targetOfImage = (): Target => {
  const { name, command } = ownTarget();
  return { name, command: `env NODE_OPTIONS=${nodeOptions} ${command}` };
};

const measure = async ({ target, runs, idleMs, shoots }: CommandLine): Promise<readonly string[]> => {
  const own = targetOfImage();
  const targets = [own, ...(target === undefined ? [] : [{ name: 'target', command: target }])];
  const pairs = targets.flatMap((each) => components.map((component) => ({ each, component })));
  return withTempDirectory(async (directory) => {
    const world = await startHealthyWorld({ shoots, nodes: 10 }, directory);
    const deps = { clock, world, directory };
    try {
      const starts: StartRow[] = [{ name: 'node alone', starts: await measureBareNode(clock, runs) }];
      for (const { each, component } of pairs) {
        say(`starts of ${each.name} ${component}`);
        const row = await measureStarts(each, component, { ...deps, runs });
        starts.push({ name: each.name, component, starts: row });
      }
      const idle: IdleRow[] = [];
      for (const { each, component } of pairs) {
        say(`idle memory of ${each.name} ${component}`);
        const memory = await measureIdle(each, component, { ...deps, idleMs });
        idle.push({ name: each.name, component, memory });
      }
      write(`${startsTable(starts)}\n\n${idleTable(idle)}\n`);
      return missedBy(own.name, starts, idle);
    } finally {
      await world.end();
    }
  });
};

const main = async (line: CommandLine): Promise<number> => {
  const missed = await measure(line);
  write(missed.length === 0 ? 'All aims were met.' : missed.map((aim) => `Missed: ${aim}.`).join('\n'));
  return 0;
};

await runCommand(usage, readCommandLine, main);
