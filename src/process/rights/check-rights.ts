import { errorText } from '../../kubernetes/api/errors.ts';
import { type Right, formatRight, reviewAccess } from '../../kubernetes/api/access.ts';
import type { CallOptions, KubeClient } from '../../kubernetes/api/kube.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Gauge, Meter } from '../../ports/meter.ts';
import type { Runnable } from '../lifecycle.ts';

export interface NeededRight {
  readonly right: Right;
  /** Purpose, for the log: `to ...`. */
  readonly purpose: string;
}

/** Client for facts that are not in the configuration, and the options of its calls. */
export interface DiscoveryAccess {
  readonly client: KubeClient;
  readonly options: CallOptions;
}

/** Name of the metric and suffix for texts, by cluster. */
const clusters = {
  seed: { metric: 'dwd_missing_rights', where: '' },
  garden: { metric: 'dwd_missing_garden_rights', where: ' in the garden' },
} as const;

export interface RightsCheckOptions<Settings> {
  /** Cluster that `client` connects to. Default: `seed`. */
  readonly cluster?: keyof typeof clusters;
  /** May be rate limited, but must not require leadership: a review is a POST that changes nothing. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly settings: Settings;
  /** Returns the rights that `settings` need. Rejects with an ApiError if they cannot be determined now. */
  readonly needed: (settings: Settings, inquiry: DiscoveryAccess) => Promise<readonly NeededRight[]>;
}

/** Time until the next check: rights may be granted and revoked while the program runs. */
const recheckMs = 300_000;
const timeoutMs = 10_000;

/**
 * Checks with access reviews that the program has every right that the configuration needs, because some are first used in an outage. Logs
 * a missing right once, and once that none is missing any more. A failed or refused review changes nothing. Ready at once, sends one request at a time,
 * never fails.
 */
export class RightsCheck<Settings> implements Runnable {
  readonly name: string;
  readonly #options: RightsCheckOptions<Settings>;
  readonly #where: string;
  readonly #count: Gauge;
  #settings: Settings;
  /** Ends the current check, or the wait for the next one. */
  #wake = new AbortController();
  #known: ReadonlySet<string> | undefined;

  constructor(options: RightsCheckOptions<Settings>) {
    const { metric, where } = clusters[options.cluster ?? 'seed'];
    this.name = `rights check${where}`;
    this.#options = options;
    this.#where = where;
    this.#settings = options.settings;
    this.#count = options.meter.gauge({
      name: metric,
      help: `Rights${where} that the configuration needs and the program lacks.`,
    });
  }

  /** Checks at once the rights that other settings need. */
  apply(settings: Settings): void {
    this.#settings = settings;
    this.#wake.abort();
  }

  /** Missing rights, as of the last complete check. */
  missing(): readonly string[] {
    return [...(this.#known ?? [])];
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    ready();
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const ended = AbortSignal.any([signal, this.#wake.signal]);
      await this.#tryToCheck(ended);
      await this.#options.clock.sleep(recheckMs, ended).catch(() => undefined);
    }
  }

  async #tryToCheck(signal: AbortSignal): Promise<void> {
    try {
      await this.#check(signal);
    } catch (error) {
      const problem = errorText(error);
      if (!signal.aborted) this.#options.logger.debug(`rights${this.#where} could not be checked`, { problem });
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { client, needed } = this.#options;
    const callOptions = { signal, timeoutMs };
    const missing = new Map<string, NeededRight>();
    const all = await needed(this.#settings, { client, options: callOptions });
    for (const need of all) {
      const { value: isAllowed } = await client.call(reviewAccess(need.right), callOptions);
      if (!isAllowed) missing.set(formatRight(need.right), need);
    }
    this.#report(missing, all.length);
  }

  #report(missing: ReadonlyMap<string, NeededRight>, checked: number): void {
    const { logger } = this.#options;
    this.#count.set(missing.size);
    for (const [right, { purpose }] of missing) {
      if (this.#known?.has(right) === true) continue;
      logger.error(`a right is missing${this.#where}: grant it`, { right, needed: purpose });
    }
    if (missing.size === 0 && this.#known?.size !== 0) logger.info(`no right is missing${this.#where}`, { checked });
    this.#known = new Set(missing.keys());
  }
}
