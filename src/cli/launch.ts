import type { ComponentConfig } from '../config/index.ts';
import type { ConfigProblem } from '../config/rules/index.ts';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { Logger } from '../ports/logger.ts';
import { CommandError, type ProcessDeps, type ProcessOptions, systemClock } from '../process/index.ts';
import {
  type LogLevel,
  type PrometheusMeter,
  createLogger,
  createMeter,
  createProgramMetrics,
} from '../telemetry/index.ts';
import { version } from './build-info.ts';
import type { Invocation } from './command.ts';
import { loadConfigFile } from './config-file.ts';
import type { CliIo } from './io.ts';
import { type ProcessFlagValues, ignoredAmong, type processFlags, processOptionsFrom } from './process-flags.ts';

const reportWarnings = (warnings: readonly ConfigProblem[], logger: Logger): void => {
  for (const { line, column, path, message } of warnings) {
    logger.warn(`configuration: ${path} ${message}`, { line, column });
  }
};

/** An invocation with at least the flags of every component. */
interface Launch extends Invocation<typeof processFlags> {
  readonly io: CliIo;
}

/** Log and metrics of a component. */
interface Telemetry {
  readonly logger: Logger;
  /** Logs why the component cannot start, at every log level. */
  readonly fatal: Logger;
  readonly meter: PrometheusMeter;
}

const openTelemetry = (component: string, flags: ProcessFlagValues, io: CliIo): Telemetry => {
  const isDryRun = flags['dry-run'];
  const meter = createMeter(isDryRun ? { defaultLabels: { dry_run: 'true' } } : {});
  const { droppedLogLines } = createProgramMetrics(meter, { component, version, isDryRun });
  const write = io.openLog({
    onDropped: () => droppedLogLines.inc(),
    onRecovered: (lines) => logger.warn('lines of this log could not be written', { lines }),
  });
  const { 'zap-log-level': level, 'zap-encoder': encoder } = flags;
  const loggerOf = (least: LogLevel): Logger => {
    const logger = createLogger({ level: least, encoder, write, clock: systemClock() });
    return isDryRun ? logger.child({ dryRun: true }) : logger;
  };
  const logger = loggerOf(level);
  return { logger, fatal: loggerOf('error'), meter };
};

interface Startable<Settings> {
  readonly config: ComponentConfig<Settings>;
  /** Runs the component until `stop` aborts or it fails; resolves with the exit code. */
  readonly run: (deps: ProcessDeps<Settings>) => Promise<number>;
  /** True if it runs only once and prints a result. */
  readonly printsResult?: boolean;
}

interface Starting extends Launch, Omit<Telemetry, 'fatal'> {
  readonly options: ProcessOptions;
  readonly flagWarnings: readonly string[];
}

const warnOfFlags = ({ given, operands, logger, flagWarnings }: Starting): void => {
  for (const warning of flagWarnings) logger.warn(warning);
  const flags = ignoredAmong(given);
  if (flags.length > 0) logger.warn('flags of the Go program have no effect', { flags });
  if (operands.length > 0) {
    logger.warn('arguments that are no flags, and all that follow them, have no effect', { arguments: operands });
  }
};

/** Namespace of the service account of this pod, where controller-runtime keeps the Lease unless it is told another. */
const podNamespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

const withNamespace = async (options: ProcessOptions, io: CliIo): Promise<ProcessOptions> => {
  const { leaderElection } = options;
  if (!leaderElection.enabled || leaderElection.namespace !== '') return options;
  try {
    const namespace = (await io.readFile(podNamespaceFile)).trim();
    return { ...options, leaderElection: { ...leaderElection, namespace } };
  } catch (error) {
    const reason = (error as Error).message;
    throw new CommandError(
      `flag --leader-election-namespace is empty, and ${podNamespaceFile} cannot be read: ${reason}`,
    );
  }
};

const start = async <Settings>({ config, run }: Startable<Settings>, starting: Starting): Promise<number> => {
  const { flags, io, logger, meter } = starting;
  const options = await withNamespace(starting.options, io);
  const file = flags['config-file'];
  const unknownFields = flags.strict ? 'error' : 'warning';
  const load = (text: string, inForce?: unknown) => config.load(text, { unknownFields, inForce });
  const { settings, given, problems: warnings } = await loadConfigFile(file, io, load);
  warnOfFlags(starting);
  reportWarnings(warnings, logger);
  // Renamed, because the log redacts fields called `kubeconfig`.
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
    given,
    configWarnings: warnings.length,
    env: io.env,
    logger,
    meter,
    version,
    stop: io.stopOnSignals(),
  });
};

/**
 * Sets up log, metrics and configuration, runs the component, and resolves with its exit code. An error that prevents the start is logged; for a
 * component that prints a result, `launch` rejects with a CommandError instead. Rejects with a UsageError if flags contradict each other.
 */
export const launch = async <Settings>(component: Startable<Settings>, launched: Launch): Promise<number> => {
  const { values: options, warnings: flagWarnings } = processOptionsFrom(launched.flags);
  const { fatal, ...telemetry } = openTelemetry(component.config.component, launched.flags, launched.io);
  launched.io.reportCrashesTo(fatal);
  try {
    return await start(component, { ...launched, ...telemetry, options, flagWarnings });
  } catch (error) {
    const problem = error instanceof KubeconfigError ? new CommandError(error.message) : error;
    if (component.printsResult === true || !(problem instanceof CommandError)) throw problem;
    const { message, details } = problem;
    fatal.error(message, details.length === 0 ? {} : { problems: details });
    return 1;
  }
};
