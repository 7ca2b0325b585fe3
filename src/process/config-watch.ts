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
  /** Called with settings that differ from those before. Resolves with true once they are in force, with false if that fails or later ones overtake them. */
  readonly apply: (settings: Settings) => Promise<boolean>;
}

/** Time between reads of the file. The kubelet itself takes up to a minute to update a ConfigMap mount. */
const pollMs = 5_000;

/**
 * Applies a configuration file whenever its content changes. An invalid file changes nothing, nor does one in which a field is now misspelt or empty.
 * The file is polled by its path, because a ConfigMap mount is a symlink that the kubelet replaces.
 */
export class ConfigWatch<Settings> implements Runnable {
  readonly name = 'configuration watch';
  readonly #options: ConfigWatchOptions<Settings>;
  readonly #failed: Gauge;
  readonly #warnings: Gauge;
  /** Settings that were applied last, as JSON, and whether they are in force. */
  #applied: string;
  #isInForce = true;
  #given: unknown;
  #seen: string | undefined;
  #problem: string | undefined;

  constructor(options: ConfigWatchOptions<Settings>) {
    this.#options = options;
    this.#failed = options.meter.gauge({
      name: 'dwd_config_reload_failed',
      help: '1 while the changed configuration is not in force; the former is.',
    });
    this.#warnings = options.meter.gauge({
      name: 'dwd_config_warnings',
      help: 'Warnings about the configuration in force.',
    });
    this.#failed.set(0);
    this.#warnings.set(options.configWarnings);
    this.#applied = JSON.stringify(options.settings);
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

  #tell(): void {
    this.#failed.set(this.#problem !== undefined || !this.#isInForce ? 1 : 0);
  }

  #complain(problem: string): void {
    this.#failed.set(1);
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { configFile: path, logger } = this.#options;
    logger.error('configuration not taken over: the old one stays in force', { path, problem });
  }

  #take(text: string): void {
    const { configFile: path, load, logger } = this.#options;
    const { settings, problems, given } = load(text, this.#given);
    const inWords = (found: ConfigProblem): string => formatProblem(path, found);
    if (settings === undefined) {
      this.#complain(problems.map(inWords).join('; '));
      return;
    }
    this.#warnings.set(problems.length);
    this.#problem = undefined;
    this.#given = given;
    const form = JSON.stringify(settings);
    if (form !== this.#applied) {
      for (const found of problems) logger.warn('configuration', { problem: inWords(found) });
      logger.info('configuration changed', { path, configuration: settings });
      void this.#apply(settings, form);
    }
    this.#tell();
  }

  /** Counts as failed until the settings are in force: their caches may never be filled, as without a right that they need. */
  async #apply(settings: Settings, form: string): Promise<void> {
    this.#applied = form;
    this.#isInForce = false;
    const isInForce = await this.#options.apply(settings);
    if (!isInForce || form !== this.#applied) return;
    this.#isInForce = true;
    this.#tell();
  }
}
