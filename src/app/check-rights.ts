import { formatRight, type Right, reviewAccess } from '../domain/index.ts';
import type { CallOptions, Clock, KubeClient, Logger, Meter } from '../ports/index.ts';
import type { Runnable } from '../runtime/index.ts';

export interface NeededRight {
  readonly right: Right;
  /** What it is needed for: `to ...`. */
  readonly purpose: string;
}

/** Whom to ask for what a configuration alone does not tell, and how long an answer may take. */
export interface Inquiry {
  readonly client: KubeClient;
  readonly options: CallOptions;
}

/** Metrics and words by the cluster that is asked. */
const clusters = {
  seed: { metric: 'dwd_missing_rights', where: '' },
  garden: { metric: 'dwd_missing_garden_rights', where: ' in the garden' },
} as const;

export interface RightsCheckOptions<Settings> {
  /** Which one `client` reaches. Default `seed`. */
  readonly cluster?: keyof typeof clusters;
  /** May be slow, but not bound to leading: a review is a POST that changes nothing. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly settings: Settings;
  /** Rejects with an ApiError when it cannot be found out now. */
  readonly needed: (settings: Settings, inquiry: Inquiry) => Promise<readonly NeededRight[]>;
}

export interface RightsCheck<Settings> {
  /** Stands in nobody's way: ready at once, one request at a time, and it never fails. */
  readonly runnable: Runnable;
  /** Checks what other settings need. */
  apply(settings: Settings): void;
}

/** Rights may be taken away while the program runs. */
const recheckMs = 3_600_000;
/** While some are missing, or could not be asked for. */
const recheckSoonMs = 300_000;
const timeoutMs = 10_000;

/**
 * Asks the API server for every right that the configuration needs, because some are first used in an outage. Each that is missing is told
 * once, and in the end that none is. A review that fails or is refused says nothing.
 */
export const checkRights = <Settings>(options: RightsCheckOptions<Settings>): RightsCheck<Settings> => {
  const { client, clock, logger, needed } = options;
  const { metric, where } = clusters[options.cluster ?? 'seed'];
  const count = options.meter.gauge({
    name: metric,
    help: `Rights${where} that the configuration needs and that this program has not, as of the last time that the API server said so.`,
  });
  let settings = options.settings;
  let wake = new AbortController();
  let known: ReadonlySet<string> | undefined;

  const report = (missing: ReadonlyMap<string, NeededRight>, checked: number): void => {
    count.set(missing.size);
    for (const [right, { purpose }] of missing) {
      if (known?.has(right) !== true) logger.error(`a right is missing${where}: grant it`, { right, needed: purpose });
    }
    if (missing.size === 0 && known?.size !== 0) logger.info(`no right is missing${where}`, { checked });
    known = new Set(missing.keys());
  };

  /** True when nothing is missing. */
  const check = async (signal: AbortSignal): Promise<boolean> => {
    const callOptions = { signal, timeoutMs };
    const missing = new Map<string, NeededRight>();
    const all = await needed(settings, { client, options: callOptions });
    for (const need of all) {
      const { value: isAllowed } = await client.call(reviewAccess(need.right), callOptions);
      if (!isAllowed) missing.set(formatRight(need.right), need);
    }
    report(missing, all.length);
    return missing.size === 0;
  };

  const tryToCheck = async (signal: AbortSignal): Promise<boolean> => {
    try {
      return await check(signal);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) logger.debug(`rights${where} could not be checked`, { problem });
      return false;
    }
  };

  const run = async (signal: AbortSignal, ready: () => void): Promise<void> => {
    ready();
    const stop = (): void => wake.abort();
    signal.addEventListener('abort', stop);
    while (!signal.aborted) {
      wake = new AbortController();
      const isComplete = await tryToCheck(wake.signal);
      await clock.sleep(isComplete ? recheckMs : recheckSoonMs, wake.signal).catch(() => undefined);
    }
    signal.removeEventListener('abort', stop);
  };

  return {
    runnable: { name: `rights check${where}`, run },
    apply: (changed) => {
      settings = changed;
      wake.abort();
    },
  };
};
