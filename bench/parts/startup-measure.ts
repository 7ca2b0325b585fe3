import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import { type Memory, memoryOf, threadsCpuMsOf } from '../harness/cpu.ts';
import { gardenConfig } from '../harness/garden-config.ts';
import type { HealthyWorld } from '../harness/healthy-world.ts';
import { never } from '../harness/part.ts';
import { type Target, startTarget, targetArgs, waitForTarget } from '../harness/target.ts';

export type MeasuredComponent = 'prober' | 'weeder';

export interface StartCost {
  /** CPU milliseconds of all threads until the first line of the log. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

interface Words {
  readonly command: string;
  readonly args: readonly string[];
}

/** Resolves at the first line with that beginning: libraries of a program may write lines before its log does. */
const firstLine = async (output: Readable, beginning: string): Promise<void> => {
  let before = '';
  for await (const line of createInterface({ input: output })) {
    if (line.startsWith(beginning)) return;
    before += `${line}\n`;
  }
  throw new Error(`it has ended without a line that begins with ${JSON.stringify(beginning)}:\n${before}`);
};

/** Runs a shell command until the first line of its output that has that beginning. */
const startOnce = async (words: Words, beginning: string, clock: Clock): Promise<StartCost> => {
  const startedAt = clock.monotonic();
  const child = spawn('/bin/sh', ['-c', `exec ${words.command} "$@" 2>&1`, 'sh', ...words.args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = once(child, 'exit');
  try {
    await firstLine(child.stdout, beginning);
    return { cpuMs: threadsCpuMsOf(child.pid ?? -1), wallMs: clock.monotonic() - startedAt };
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
};

const configOf = (component: MeasuredComponent): string =>
  component === 'prober' ? gardenConfig(kubeconfigSecretName) : weederConfig.defaultText;

export interface StartDeps {
  readonly clock: Clock;
  readonly world: HealthyWorld;
  readonly directory: string;
}

/** Measures starts of one component, one after the other, each in a new process. */
export const measureStarts = async (
  { command }: Target,
  component: MeasuredComponent,
  { clock, world, directory, runs }: StartDeps & { readonly runs: number },
): Promise<readonly StartCost[]> => {
  const args = targetArgs({ component, config: configOf(component), kubeconfig: world.kubeconfig, directory });
  const starts: StartCost[] = [];
  for (let run = 0; run < runs; run += 1) starts.push(await startOnce({ command, args }, '{', clock));
  return starts;
};

/** Measures starts of Node alone, until it has written a line. */
export const measureBareNode = async (clock: Clock, runs: number): Promise<readonly StartCost[]> => {
  const starts: StartCost[] = [];
  for (let run = 0; run < runs; run += 1) {
    const script = 'console.log(0); setInterval(() => undefined, 1000)';
    starts.push(await startOnce({ command: `'${process.execPath}'`, args: ['-e', script] }, '0', clock));
  }
  return starts;
};

/** Measures the memory of a component in a healthy seed, `idleMs` after its start or, for the prober, after a probe of every shoot. */
export const measureIdle = async (
  target: Target,
  component: MeasuredComponent,
  { clock, world, directory, idleMs }: StartDeps & { readonly idleMs: number },
): Promise<Memory> => {
  const config = configOf(component);
  const before = (await world.counts()).fewestProbes;
  const program = startTarget(target, { component, config, kubeconfig: world.kubeconfig, directory });
  try {
    if (component === 'prober') {
      await waitForTarget(
        program,
        { what: `${target.name} to probe every shoot`, withinMs: 180_000 },
        async () => (await world.counts()).fewestProbes > before,
      );
    }
    await clock.sleep(idleMs, never);
    program.check();
    return memoryOf(program.pid);
  } finally {
    await program.stop();
  }
};
