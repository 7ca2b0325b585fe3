import {
  type ComponentConfig,
  type ConfigProblem,
  type LoadedConfig,
  type Outline,
  formatProblem,
} from '../config/index.ts';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { Logger } from '../ports/logger.ts';
import { type ProcessDeps, type ProcessOptions, systemClock } from '../process/index.ts';
import { type LogLevel, type PrometheusMeter, createLogger, createMeter } from '../telemetry/index.ts';
import { version } from './build-info.ts';
import { type Command, type CommandDefinition, type Invocation, defineCommand } from './command.ts';
import { CommandError } from './errors.ts';
import type { CliIo } from './io.ts';
import {
  type ProcessFlagValues,
  ignoredAmong,
  logOptionsFrom,
  processFlags,
  processOptionsFrom,
} from './process-flags.ts';

export interface ComponentCommand<Settings>
  extends Pick<CommandDefinition<typeof processFlags>, 'summary' | 'description'> {
  readonly config: ComponentConfig<Settings>;
  /** Runs the component until `stop` aborts or it fails; resolves with the exit code. */
  readonly run: (deps: ProcessDeps<Settings>) => Promise<number>;
}

const loadSettings = async <Settings>(file: string, io: CliIo, load: (text: string) => LoadedConfig<Settings>) => {
  let text: string;
  try {
    text = await io.readFile(file);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  }
  const { settings, problems, outline } = load(text);
  if (settings !== undefined) return { settings, outline, warnings: problems };
  const lines = problems.map((problem) => formatProblem(file, problem));
  throw new CommandError('the configuration is not valid', lines);
};

const reportWarnings = (warnings: readonly ConfigProblem[], logger: Logger): void => {
  for (const { line, column, path, message } of warnings) {
    logger.warn(`configuration: ${path} ${message}`, { line, column });
  }
};

export interface Launch extends Invocation<typeof processFlags> {
  readonly io: CliIo;
}

/** Log and metrics of a component. */
interface Telemetry {
  readonly logger: Logger;
  /** For the reason of a failure, which is logged whatever the level. */
  readonly fatal: Logger;
  readonly meter: PrometheusMeter;
}

const openTelemetry = (flags: ProcessFlagValues, io: CliIo): Telemetry => {
  const isDryRun = flags['dry-run'];
  const meter = createMeter(isDryRun ? { defaultLabels: { dry_run: 'true' } } : {});
  meter.gauge({ name: 'dwd_dry_run', help: '1 if this program writes nothing (--dry-run).' }).set(isDryRun ? 1 : 0);
  const dropped = meter.counter({
    name: 'dwd_log_lines_dropped_total',
    help: 'Lines of the log that could not be written: a full disk, a closed pipe, a reader that does not read.',
  });
  const write = io.openLog({
    onDropped: () => dropped.inc(),
    onRecovered: (lines) => logger.warn('lines of this log could not be written', { lines }),
  });
  const { level, encoder } = logOptionsFrom(flags);
  const loggerOf = (least: LogLevel): Logger => {
    const logger = createLogger({ level: least, encoder, write, clock: systemClock() });
    return isDryRun ? logger.child({ dryRun: true }) : logger;
  };
  const logger = loggerOf(level);
  return { logger, fatal: loggerOf('error'), meter };
};

const warnOfIgnored = (given: readonly string[], operands: readonly string[], logger: Logger): void => {
  const flags = ignoredAmong(given);
  if (flags.length > 0) logger.warn('flags of the Go program have no effect', { flags });
  if (operands.length > 0) logger.warn('arguments that are no flags have no effect', { arguments: operands });
};

interface Startable<Settings> extends Pick<ComponentCommand<Settings>, 'config' | 'run'> {
  readonly printsResult?: boolean;
}

interface Starting extends Launch, Omit<Telemetry, 'fatal'> {
  readonly options: ProcessOptions;
}

const start = async <Settings>(
  component: Startable<Settings>,
  { flags, given, operands, io, logger, meter, options }: Starting,
): Promise<number> => {
  const { config, run } = component;
  const file = flags['config-file'];
  const unknownFields = flags.strict ? 'error' : 'warning';
  const load = (text: string, inForce?: Outline) => config.load(text, { unknownFields, inForce });
  const { settings, outline, warnings } = await loadSettings(file, io, load);
  warnOfIgnored(given, operands, logger);
  reportWarnings(warnings, logger);
  // Under another name than `kubeconfig`, which the log redacts.
  const { kubeconfig: kubeconfigFile, ...others } = options;
  logger.info(`starting the ${config.component}`, {
    version,
    configFile: file,
    configuration: settings,
    options: { ...others, kubeconfigFile },
  });
  if (options.dryRun) logger.warn('dry run: nothing is written; what would be is logged as "would have ..."');
  return run({
    settings,
    flags: options,
    configFile: file,
    readFile: io.readFile,
    load,
    outline,
    configWarnings: warnings.length,
    env: io.env,
    logger,
    meter,
    version,
    stop: io.stopOnSignals(),
  });
};

/**
 * Everything before and around a component: resolves with its exit code. What keeps it from starting is logged, or where it runs only once and prints
 * a result, rejects with a CommandError. Rejects with a UsageError when its flags contradict each other.
 */
export const launch = async <Settings>(component: Startable<Settings>, launched: Launch): Promise<number> => {
  const options = processOptionsFrom(launched.flags);
  const { fatal, ...telemetry } = openTelemetry(launched.flags, launched.io);
  launched.io.reportCrashesTo(fatal);
  try {
    return await start(component, { ...launched, ...telemetry, options });
  } catch (error) {
    const problem = error instanceof KubeconfigError ? new CommandError(error.message) : error;
    if (component.printsResult === true || !(problem instanceof CommandError)) throw problem;
    const { message, details } = problem;
    fatal.error(message, details.length === 0 ? {} : { problems: details });
    return 1;
  }
};

/** `dwd COMPONENT`. */
export const componentCommand = <Settings>(component: ComponentCommand<Settings>): Command => {
  const { config, summary, description } = component;
  return defineCommand({
    name: config.component,
    summary,
    description,
    flags: processFlags,
    operands: 'ignored',
    run: async (invocation, io) => launch(component, { ...invocation, io }),
  });
};
