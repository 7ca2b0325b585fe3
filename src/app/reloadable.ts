import type { Logger } from '../ports/index.ts';
import { type Check, type Runnable, whenAborted } from '../runtime/index.ts';

/** A component of a seed under one configuration: its watches, and while it leads its controller. */
export interface Generation<Settings, Memory> {
  readonly settings: Settings;
  /** Starts the watches; resolves when all that is needed is known. */
  sync(): Promise<void>;
  /**
   * Works until `signal` aborts and everything under way has ended; resolves with what the next generation goes on with. `memory` is that
   * of the generation before, if there was one.
   */
  work(memory: Memory | undefined, signal: AbortSignal): Promise<Memory>;
  checks(): readonly Check[];
  /** Ends the watches. */
  close(): Promise<void>;
}

/** A component of a seed as parts of a program: the caches of a standby are filled too, its controller waits for its turn. */
export interface ComponentParts<Settings> {
  /** Waits for the seed's API server as long as it takes: a watchdog that crash-loops protects nobody. */
  readonly caches: Runnable;
  readonly controller: Runnable;
  checks(): readonly Check[];
  /** Goes over to other settings once their caches are filled. */
  apply(settings: Settings): void;
}

export interface ReloadableOptions<Settings, Memory> {
  /** Of the component. */
  readonly name: string;
  readonly settings: Settings;
  /** `former`: the settings that were in force. */
  readonly create: (settings: Settings, former: Settings | undefined) => Generation<Settings, Memory>;
  /** Called when the caches end. */
  readonly stop: () => void;
  readonly logger: Logger;
}

/** A component whose configuration can change while it runs. */
export const createReloadable = <Settings, Memory>(
  options: ReloadableOptions<Settings, Memory>,
): ComponentParts<Settings> => {
  const { name, create, stop, logger } = options;
  let current = create(options.settings, undefined);
  let next: Generation<Settings, Memory> | undefined;
  /** The caches have ended: a change that comes now, as after a suspension, would start watches that nobody ends. */
  let hasEnded = false;
  /** Generations that were in force, to be closed when the controller has left them. */
  const former: Generation<Settings, Memory>[] = [];
  /** Makes the controller go over to `current`; without one there is nothing to go over. */
  let goOver: (() => void) | undefined;

  const closeFormer = async (): Promise<void> => {
    await Promise.all(former.splice(0).map((generation) => generation.close()));
  };

  const apply = async (wanted: Settings): Promise<void> => {
    if (hasEnded) return;
    const created = create(wanted, current.settings);
    const overtaken = next;
    next = created;
    await overtaken?.close();
    try {
      await created.sync();
    } catch (error) {
      if (next === created) throw error;
    }
    if (next !== created) return;
    former.push(current);
    current = created;
    next = undefined;
    if (goOver === undefined) await closeFormer();
    else goOver();
    logger.info('the new configuration is in force');
  };

  const runCaches = async (signal: AbortSignal, ready: () => void): Promise<void> => {
    const aborted = whenAborted(signal);
    const first = current;
    const synced = first.sync().catch((error: unknown) => {
      // One that was replaced meanwhile has been closed; the one in its place is filled.
      if (!signal.aborted && current === first) throw error;
    });
    await Promise.race([synced, aborted]);
    if (!signal.aborted) ready();
    await aborted;
    hasEnded = true;
    const pending = next;
    next = undefined;
    stop();
    await Promise.all([current.close(), pending?.close(), closeFormer()]);
  };

  const runController = async (signal: AbortSignal, ready: () => void): Promise<void> => {
    ready();
    let memory: Memory | undefined;
    // Once for all generations: a listener on it would stay for as long as the program runs.
    signal.addEventListener('abort', () => goOver?.(), { once: true });
    while (!signal.aborted) {
      const generation = current;
      const end = new AbortController();
      const isOver = new Promise<void>((resolve) => {
        goOver = resolve;
      });
      const working = generation.work(memory, end.signal);
      await isOver;
      end.abort();
      memory = await working;
      await closeFormer();
    }
    goOver = undefined;
  };

  return {
    caches: { name: 'caches', run: runCaches },
    controller: { name, run: runController },
    checks: () => current.checks(),
    apply: (wanted) => {
      apply(wanted).catch((error: unknown) => logger.error('the new configuration could not be applied', { error }));
    },
  };
};

export interface RunningComponent<Settings> {
  checks(): readonly Check[];
  apply(settings: Settings): void;
  /** Lets writes under way finish, sends nothing new, ends all watches. */
  stop(): Promise<void>;
}

/** Runs all parts at once, for worlds in memory: no servers, no leader election. */
export const startParts = <Settings>(parts: ComponentParts<Settings>): RunningComponent<Settings> => {
  const { caches, controller } = parts;
  const stopControllers = new AbortController();
  const stopCaches = new AbortController();
  let controllers = Promise.resolve();
  const running = caches.run(stopCaches.signal, () => {
    controllers = controller.run(stopControllers.signal, () => undefined);
  });
  return {
    checks: () => parts.checks(),
    apply: (settings) => parts.apply(settings),
    stop: async () => {
      stopControllers.abort();
      await controllers;
      stopCaches.abort();
      await running;
    },
  };
};
