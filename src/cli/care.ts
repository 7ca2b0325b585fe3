import { type CareProcessDeps, type CareResults, type CareOnceDeps, careConfig } from '../care/index.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { CommandError } from '../process/index.ts';
import { exitCodeOf, formatResults } from './care-output.ts';
import { type Command, defineCommand } from './command.ts';
import { launch } from './launch.ts';
import { UsageError } from './errors.ts';
import { bool, text } from './flag-types.ts';
import { type FlagValues, flag, optionalFlag } from './parse-flags.ts';
import { outputFlag } from './output.ts';
import { processFlags } from './process-flags.ts';
import { namingCluster } from './seed-flags.ts';

export interface RunCare {
  /** Runs until stopped; resolves with the exit code. */
  readonly process: (deps: CareProcessDeps) => Promise<number>;
  /** Checks every shoot once (`--once`). */
  readonly once: (deps: CareOnceDeps) => Promise<Result<CareResults, string>>;
}

const description = `Checks the control planes, nodes and system components of all shoots of a seed, and reports the health of each shoot as conditions with a status, a reason and a message. With --garden-kubeconfig, care writes the conditions to the status of the Shoots. Without it, only the metrics, the log and --once show them.

--once checks every shoot once and prints the result. It exits with 0 if every condition is True or Progressing, with 1 if a condition is False or Unknown, and with 2 if a check or a write failed. It also writes the conditions if --garden-kubeconfig is given and --dry-run is not.`;

/** The flags of all components except --concurrent-reconciles: the configuration of care has the number of concurrent checks. */
const { 'concurrent-reconciles': _, ...flagsInCommon } = processFlags;

const careFlags = {
  ...flagsInCommon,
  gardenKubeconfig: optionalFlag(
    text('path', 'the path of a kubeconfig'),
    'Path of the kubeconfig for the garden; without it, care writes nothing',
  ),
  takeOver: flag(
    bool,
    'false',
    'Write conditions of Shoots even if another program has written them recently; first stop that program, such as the care controller of gardenlet',
  ),
  once: flag(bool, 'false', 'Check every shoot once, print the result, and exit'),
  output: outputFlag('Output format of --once: table, json or yaml'),
  shoot: optionalFlag(
    text('shoot', 'PROJECT/NAME, or the namespace of a control plane'),
    'Check only this shoot with --once, given as PROJECT/NAME or as for --namespace',
  ),
  namespace: optionalFlag(
    text('namespace', 'the namespace of a control plane'),
    'Check only this shoot with --once, given as the namespace of its control plane in the seed',
    'n',
  ),
} as const;

/** Returns the shoot that --shoot or --namespace select. */
const shootFrom = ({ shoot, namespace }: FlagValues<typeof careFlags>): string | undefined => {
  if (shoot !== undefined && namespace !== undefined && shoot !== namespace) {
    throw new UsageError('flags --shoot and --namespace name different shoots');
  }
  return shoot ?? namespace;
};

/** Rejects with exit code 2 if `--once` could not check: code 1 means that shoots were checked and have failures. */
const orUnchecked = async (launched: Promise<number>): Promise<number> => {
  try {
    return await launched;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.message, error.details, 2);
  }
};

export const careCommand = (run: RunCare): Command =>
  defineCommand({
    name: 'care',
    summary: 'report the health of all shoots of a seed',
    description,
    flags: careFlags,
    operands: 'ignored',
    run: async ({ flags, given, operands }, io) => {
      const { once, output, gardenKubeconfig, takeOver } = flags;
      const needsOnce = ['output', 'shoot', 'namespace'].find((name) => given.includes(name));
      if (!once && needsOnce !== undefined) throw new UsageError(`flag --${needsOnce} requires --once`);
      const shoot = shootFrom(flags);
      const garden = { gardenKubeconfig, takeOver };
      const runOnce = async (deps: CareProcessDeps): Promise<number> => {
        const result = await run.once({ ...deps, shoot, onConnect: namingCluster(io) });
        if (!result.ok) throw new CommandError(result.error);
        io.stdoutStyled(formatResults(result.value, output));
        return exitCodeOf(result.value);
      };
      // --once prints a result, so the log has only errors, unless a level is given.
      const quiet = once && !given.includes('zap-log-level') ? { 'zap-log-level': 'error' as const } : {};
      const component = {
        printsResult: once,
        config: careConfig,
        run: (deps: Omit<CareProcessDeps, keyof typeof garden>) =>
          (once ? runOnce : run.process)({ ...deps, ...garden }),
      };
      const launched = launch(component, { flags: { ...flags, ...quiet }, given, operands, io });
      return once ? orUnchecked(launched) : launched;
    },
  });
