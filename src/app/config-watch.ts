import { formatProblem, type LoadedConfig, type Outline } from '../config/index.ts';
import type { Clock, Logger, Meter } from '../ports/index.ts';
import type { Runnable } from '../runtime/index.ts';

export interface ConfigWatchOptions<Settings> {
  readonly path: string;
  readonly load: (text: string, inForce?: Outline) => LoadedConfig<Settings>;
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  /** What the program started with. */
  readonly settings: Settings;
  /** Of the file they came from. */
  readonly outline?: Outline | undefined;
  /** Oddities of that configuration. */
  readonly warnings: number;
  /** Called with settings that differ from those in force. */
  readonly apply: (settings: Settings) => void;
}

/** The kubelet itself takes up to a minute to swap a ConfigMap mount. */
const pollMs = 5_000;

/**
 * Applies a configuration file whenever its content changes; an invalid one is told and the old one stays in force, and so does the value of a field that is now misspelt. Reads the file again and
 * again by its path, because a ConfigMap mount is a symlink that the kubelet swaps.
 */
export const watchConfig = <Settings>(options: ConfigWatchOptions<Settings>): Runnable => {
  const { path, load, readFile, clock, logger, meter, apply } = options;
  const failed = meter.gauge({
    name: 'dwd_config_reload_failed',
    help: '1 while the configuration file, or a field of it, cannot be used and an older one is in force.',
  });
  const warnings = meter.gauge({
    name: 'dwd_config_warnings',
    help: 'Unknown fields and other oddities in the configuration file that is in force.',
  });
  failed.set(0);
  warnings.set(options.warnings);
  let problem: string | undefined;
  let inForce = JSON.stringify(options.settings);
  let { outline } = options;
  let seen: string | undefined;

  const complain = (message: string): void => {
    failed.set(1);
    if (message === problem) return;
    problem = message;
    logger.error('configuration not taken over: the old one stays in force', { path, problem: message });
  };

  const read = async (): Promise<string | undefined> => {
    try {
      return await readFile(path);
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };

  const take = (text: string): void => {
    const { settings, problems, kept = [], outline: read } = load(text, outline);
    if (settings === undefined) {
      complain(problems.map((found) => formatProblem(path, found)).join('; '));
      return;
    }
    failed.set(kept.length > 0 ? 1 : 0);
    warnings.set(problems.length);
    for (const found of kept) {
      const fields = { path, problem: formatProblem(path, found) };
      logger.error('a field of the configuration is misspelt: its value in force is kept', fields);
    }
    problem = undefined;
    outline = read;
    const form = JSON.stringify(settings);
    if (form === inForce) return;
    inForce = form;
    for (const found of problems) logger.warn('configuration', { problem: formatProblem(path, found) });
    logger.info('configuration changed', { path, configuration: settings });
    apply(settings);
  };

  return {
    name: 'configuration watch',
    run: async (signal, ready) => {
      ready();
      for (;;) {
        try {
          await clock.sleep(pollMs, signal);
        } catch {
          return;
        }
        const text = await read();
        // After a failure the same text is taken again: it may be what is in force.
        if (text === undefined || (text === seen && problem === undefined)) continue;
        seen = text;
        take(text);
      }
    },
  };
};
