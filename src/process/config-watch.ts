import type { LoadedConfig } from '../config/index.ts';
import { type ConfigProblem, formatProblem } from '../config/rules/index.ts';
import { errorText } from '../kubernetes/api/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Gauge, Meter } from '../ports/meter.ts';
import type { Runnable } from './lifecycle.ts';

/** A configuration file, and what the program started with. */
export interface ConfigFile<Settings> {
  /** Path of the file. */
  readonly configFile: string;
  readonly readFile: (path: string) => Promise<string>;
  /** Parses the text of the file. */
  readonly load: (text: string, inForce?: unknown) => LoadedConfig<Settings>;
  readonly settings: Settings;
  /** The fields that the file of `settings` gives. */
  readonly given?: unknown;
  /** Number of warnings about that file. */
  readonly configWarnings: number;
}

export interface ConfigWatchOptions<Settings> extends ConfigFile<Settings> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Called with settings that differ from those in force. */
  readonly apply: (settings: Settings) => void;
}

/** Time between reads of the file. The kubelet itself takes up to a minute to update a ConfigMap mount. */
const pollMs = 5_000;

/**
 * Applies a configuration file whenever its content changes. An invalid file changes nothing, nor does one in which a field is now misspelt.
 * The file is polled by its path, because a ConfigMap mount is a symlink that the kubelet replaces.
 */
export class ConfigWatch<Settings> implements Runnable {
  readonly name = 'configuration watch';
  readonly #options: ConfigWatchOptions<Settings>;
  readonly #failed: Gauge;
  readonly #warnings: Gauge;
  /** Settings in force, as JSON. */
  #inForce: string;
  #given: unknown;
  #seen: string | undefined;
  #problem: string | undefined;

  constructor(options: ConfigWatchOptions<Settings>) {
    this.#options = options;
    this.#failed = options.meter.gauge({
      name: 'dwd_config_reload_failed',
      help: '1 while the changed configuration cannot be used; the former is in force.',
    });
    this.#warnings = options.meter.gauge({
      name: 'dwd_config_warnings',
      help: 'Warnings about the configuration in force.',
    });
    this.#failed.set(0);
    this.#warnings.set(options.configWarnings);
    this.#inForce = JSON.stringify(options.settings);
    this.#given = options.given;
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    ready();
    for (;;) {
      await this.#options.clock.sleep(pollMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const text = await this.#read();
      // After a failure the same text is loaded again: it may be the configuration in force.
      if (text === undefined || (text === this.#seen && this.#problem === undefined)) continue;
      this.#seen = text;
      this.#take(text);
    }
  }

  async #read(): Promise<string | undefined> {
    const { configFile, readFile } = this.#options;
    try {
      return await readFile(configFile);
    } catch (error) {
      this.#complain(errorText(error));
      return undefined;
    }
  }

  #complain(problem: string): void {
    this.#failed.set(1);
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { configFile: path, logger } = this.#options;
    logger.error('configuration not taken over: the old one stays in force', { path, problem });
  }

  #take(text: string): void {
    const { configFile: path, load, logger, apply } = this.#options;
    const { settings, problems, given } = load(text, this.#given);
    const inWords = (found: ConfigProblem): string => formatProblem(path, found);
    if (settings === undefined) {
      this.#complain(problems.map(inWords).join('; '));
      return;
    }
    this.#failed.set(0);
    this.#warnings.set(problems.length);
    this.#problem = undefined;
    this.#given = given;
    const form = JSON.stringify(settings);
    if (form === this.#inForce) return;
    this.#inForce = form;
    for (const found of problems) logger.warn('configuration', { problem: inWords(found) });
    logger.info('configuration changed', { path, configuration: settings });
    apply(settings);
  }
}
