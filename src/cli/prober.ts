import type { ProcessDeps } from '../app/index.ts';
import { type ConfigProblem, formatProblem, loadProberConfig } from '../config/index.ts';
import { KubeconfigError } from '../domain/index.ts';
import type { Logger } from '../ports/index.ts';
import { systemClock } from '../runtime/index.ts';
import { createLogger, createMeter } from '../telemetry/index.ts';
import { version } from './build-info.ts';
import { type Command, defineCommand } from './command.ts';
import { CommandError } from './errors.ts';
import type { CliIo } from './io.ts';
import { ignoredAmong, logOptionsFrom, processFlags, processOptionsFrom } from './process-flags.ts';

/** Runs the prober until `stop` aborts or it fails; resolves with the exit code. */
export type RunProber = (deps: ProcessDeps) => Promise<number>;

const description = `Probes the control planes of all shoots of a seed. When the kubelets of a shoot can no longer reach their API server while the API server itself is well, the configured controllers are scaled to 0 before they mark healthy nodes as dead, and back up when the kubelets are back.`;

const loadSettings = async (file: string, io: CliIo) => {
  let text: string;
  try {
    text = await io.readFile(file);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  }
  const { settings, problems } = loadProberConfig(text, { leftovers: 'warning' });
  if (settings !== undefined) return { settings, warnings: problems };
  const lines = problems.map((problem) => formatProblem(file, problem));
  throw new CommandError(`the configuration is not valid\n${lines.join('\n')}`);
};

const reportWarnings = (warnings: readonly ConfigProblem[], logger: Logger): void => {
  for (const { line, column, path, message } of warnings) {
    logger.warn(`configuration: ${path} ${message}`, { line, column });
  }
};

/** `dwd prober`: everything before and around the prober itself. */
export const proberCommand = (runProber: RunProber): Command =>
  defineCommand({
    name: 'prober',
    summary: 'protect the worker nodes of all shoots of a seed',
    description,
    flags: processFlags,
    async run({ flags, given }, io) {
      const options = processOptionsFrom(flags);
      const file = flags['config-file'];
      const { settings, warnings } = await loadSettings(file, io);
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
      logger.info('starting the prober', {
        version,
        configFile: file,
        configuration: settings,
        options: { ...others, kubeconfigFile },
      });
      try {
        return await runProber({
          settings,
          flags: options,
          configFile: file,
          readFile: io.readFile,
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
    },
  });
