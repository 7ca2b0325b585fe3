import type { ComponentConfig } from '../config/index.ts';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { Logger } from '../ports/logger.ts';
import { CommandError, type ProcessDeps, type ProcessOptions, systemClock } from '../process/index.ts';
import { type LogLevel, createLogger, createMeter, createProgramMetrics } from '../telemetry/index.ts';
import { version } from './build-info.ts';
import type { Invocation } from './command.ts';
import { loadConfigFile } from './config-file.ts';
import type { CliIo } from './io.ts';
import { type ProcessFlagValues, ignoredAmong, type processFlags, processOptionsFrom } from './process-flags.ts';

/** An invocation with at least the flags of every component. */
interface Launch extends Omit<Invocation<typeof processFlags>, 'flags'> {
  readonly flags: ProcessFlagValues;
  readonly io: CliIo;
}

/** Log and metrics of a component. `fatal` logs why it cannot start, at every log level. */
const openTelemetry = (component: string, { flags, io }: Launch) => {
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

const warnOfArguments = ({ given, operands }: Launch, logger: Logger): void => {
  const flags = ignoredAmong(given);
  if (flags.length > 0) logger.warn('flags of the Go program have no effect', { flags });
  if (operands.length > 0) {
    logger.warn('arguments that are no flags, and all that follow them, have no effect', { arguments: operands });
  }
};

/**
 * Sets up log, metrics and configuration, runs the component, and resolves with its exit code. An error that prevents the start is logged; for a
 * component that prints a result, `launch` rejects with a CommandError instead. Rejects with a UsageError if flags contradict each other.
 */
export const launch = async <Settings>(component: Startable<Settings>, launched: Launch): Promise<number> => {
  const { config, run, printsResult = false } = component;
  const { flags, io } = launched;
  // First, because the kernel drops a SIGTERM to PID 1 that has no handler for it.
  const stop = io.stopOnSignals();
  const { values, warnings: flagWarnings } = processOptionsFrom(flags);
  const { logger, fatal, meter } = openTelemetry(config.component, launched);
  io.reportCrashesTo(fatal);
  try {
    const options = await withNamespace(values, io);
    const configFile = flags['config-file'];
    const unknownFields = flags.strict ? 'error' : 'warning';
    const load = (text: string, inForce?: unknown) => config.load(text, { unknownFields, inForce });
    const { settings, given, problems } = await loadConfigFile(configFile, io, load);
    for (const warning of flagWarnings) logger.warn(warning);
    warnOfArguments(launched, logger);
    for (const { line, column, path, message } of problems) {
      logger.warn(`configuration: ${path} ${message}`, { line, column });
    }
    // Renamed, because the log redacts fields called `kubeconfig`.
    const { kubeconfig: kubeconfigFile, ...others } = options;
    logger.info(`starting the ${config.component}`, {
      ...{ version, configFile, configuration: settings },
      options: { ...others, kubeconfigFile },
    });
    if (options.dryRun) logger.warn('dry run: nothing is written; what would be is logged as "would have ..."');
    return await run({
      ...{
        settings,
        flags: options,
        configFile,
        readFile: io.readFile,
        load,
        given,
        env: io.env,
        logger,
        meter,
        version,
      },
      configWarnings: problems.length,
      stop,
    });
  } catch (error) {
    const problem = error instanceof KubeconfigError ? new CommandError(error.message) : error;
    if (printsResult || !(problem instanceof CommandError)) throw problem;
    const { message, details } = problem;
    fatal.error(message, details.length === 0 ? {} : { problems: details });
    return 1;
  }
};
