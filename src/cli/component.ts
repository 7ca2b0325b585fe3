import type { ProcessDeps } from '../app/index.ts';
import { type ConfigProblem, formatProblem, type LoadedConfig } from '../config/index.ts';
import { KubeconfigError } from '../domain/index.ts';
import type { Logger } from '../ports/index.ts';
import { systemClock } from '../runtime/index.ts';
import { createLogger, createMeter } from '../telemetry/index.ts';
import { version } from './build-info.ts';
import { type Command, type CommandDefinition, defineCommand } from './command.ts';
import { CommandError } from './errors.ts';
import type { CliIo } from './io.ts';
import {
  ignoredAmong,
  logOptionsFrom,
  type ProcessFlagValues,
  processFlags,
  processOptionsFrom,
} from './process-flags.ts';

export interface ComponentCommand<Settings>
  extends Pick<CommandDefinition<typeof processFlags>, 'name' | 'summary' | 'description'> {
  /** Reads the text of its configuration file. */
  readonly load: (text: string) => LoadedConfig<Settings>;
  /** Runs the component until `stop` aborts or it fails; resolves with the exit code. */
  readonly run: (deps: ProcessDeps<Settings>) => Promise<number>;
}

const loadSettings = async <Settings>(file: string, io: CliIo, load: ComponentCommand<Settings>['load']) => {
  let text: string;
  try {
    text = await io.readFile(file);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  }
  const { settings, problems } = load(text);
  if (settings !== undefined) return { settings, warnings: problems };
  const lines = problems.map((problem) => formatProblem(file, problem));
  throw new CommandError(`the configuration is not valid\n${lines.join('\n')}`);
};

const reportWarnings = (warnings: readonly ConfigProblem[], logger: Logger): void => {
  for (const { line, column, path, message } of warnings) {
    logger.warn(`configuration: ${path} ${message}`, { line, column });
  }
};

export interface Launch {
  readonly flags: ProcessFlagValues;
  readonly given: readonly string[];
  readonly io: CliIo;
}

/** Everything before and around a component: resolves with its exit code. */
export const launch = async <Settings>(
  { name, load, run }: Pick<ComponentCommand<Settings>, 'name' | 'load' | 'run'>,
  { flags, given, io }: Launch,
): Promise<number> => {
  const options = processOptionsFrom(flags);
  const file = flags['config-file'];
  const { settings, warnings } = await loadSettings(file, io, load);
  const clock = systemClock();
  const { level, encoder } = logOptionsFrom(flags);
  const logger = createLogger({ level, encoder, write: io.stderr, clock });
  // Whatever the level, the reason for an unexpected end is told.
  io.reportCrashesTo(createLogger({ level: 'error', encoder, write: io.stderr, clock }));
  const meter = createMeter(options.dryRun ? { defaultLabels: { dry_run: 'true' } } : {});
  const withoutEffect = ignoredAmong(given);
  if (withoutEffect.length > 0) logger.warn('flags of the Go program have no effect', { flags: withoutEffect });
  reportWarnings(warnings, logger);
  // Under another name than `kubeconfig`, which the log redacts.
  const { kubeconfig: kubeconfigFile, ...others } = options;
  logger.info(`starting the ${name}`, {
    version,
    configFile: file,
    configuration: settings,
    options: { ...others, kubeconfigFile },
  });
  try {
    return await run({
      settings,
      flags: options,
      configFile: file,
      readFile: io.readFile,
      load,
      configWarnings: warnings.length,
      env: io.env,
      logger,
      meter,
      version,
      stop: io.stopOnSignals(),
    });
  } catch (error) {
    if (error instanceof KubeconfigError) throw new CommandError(error.message);
    throw error;
  }
};

/** `dwd COMPONENT`. */
export const componentCommand = <Settings>(component: ComponentCommand<Settings>): Command => {
  const { name, summary, description } = component;
  return defineCommand({
    name,
    summary,
    description,
    flags: processFlags,
    run: async ({ flags, given }, io) => launch(component, { flags, given, io }),
  });
};
