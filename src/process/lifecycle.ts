import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';

/** A part of the program that works until it is stopped. */
export interface Runnable {
  /** Name for logs. */
  readonly name: string;
  /**
   * Works until `signal` aborts, finishes its requests in flight and resolves. Calls `ready` when the next group may start. The
   * program ends if this rejects, or resolves before the signal aborts.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}

export interface LifecycleOptions {
  /** A group starts when all runnables of the previous one are ready. Groups stop in reverse. Usually servers, caches, leadership, controllers. */
  readonly groups: readonly (readonly Runnable[])[];
  /** The program stops when it aborts; the reason is logged. */
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Timeout of the whole stop. Default 2500: pods often have 5 s, and the program promises 3 s. */
  readonly stopTimeoutMs?: number;
}

interface RunningGroup {
  /** Resolves when all runnables are ready. Never resolves if one ends before it is ready. */
  readonly ready: Promise<unknown>;
  /** Resolves when all runnables have ended. */
  readonly ended: Promise<unknown>;
  /** Runnables that have not ended. */
  readonly left: ReadonlySet<Runnable>;
  abort(reason: unknown): void;
}

/** Part of the timeout that is reserved for each group that stops later, however long the earlier ones take. */
const reservedMs = 200;
const defaultStopTimeoutMs = 2_500;

/** Resolves when `signal` aborts, at once if it already has. */
export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const startGroup = (group: readonly Runnable[], onFailure: (name: string, error: unknown) => void): RunningGroup => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const left = new Set(group);
  const runOne = async (runnable: Runnable, ready: () => void): Promise<void> => {
    try {
      await runnable.run(signal, ready);
      if (!signal.aborted) onFailure(runnable.name, new Error('ended although nobody stopped it'));
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) onFailure(runnable.name, error);
    }
    left.delete(runnable);
  };
  const runs: Promise<void>[] = [];
  const readies = group.map((runnable) => new Promise<void>((resolve) => runs.push(runOne(runnable, resolve))));
  return {
    ready: Promise.all(readies),
    ended: Promise.all(runs),
    left,
    abort: (reason) => stopping.abort(reason),
  };
};

const stopGroup = async (group: RunningGroup, { clock, logger }: LifecycleOptions, budgetMs: number): Promise<void> => {
  const ended = new AbortController();
  const timeUp = clock.sleep(Math.max(budgetMs, 0), ended.signal).then(
    () => true,
    () => false,
  );
  if (await Promise.race([group.ended.then(() => false), timeUp])) {
    const runnables = Array.from(group.left, ({ name }) => name);
    logger.error('not everything stopped in time: exiting all the same', { runnables });
  }
  ended.abort();
};

/**
 * Starts the groups in order. Stops them in reverse, as controller-runtime's runnable groups do, when `stop` aborts or a
 * runnable fails. Returns the exit code of the program: 0 after a stop, 1 after a failure, which is logged. Never rejects.
 */
export const runLifecycle = async (options: LifecycleOptions): Promise<number> => {
  const { groups, stop, clock, logger, stopTimeoutMs = defaultStopTimeoutMs } = options;
  const failed = new AbortController();
  const end = AbortSignal.any([stop, failed.signal]);
  let exitCode = 0;
  const fail = (name: string, error: unknown): void => {
    exitCode = 1;
    logger.error(`${name} failed`, { runnable: name, error });
    failed.abort(`${name} failed`);
  };
  const stopping = whenAborted(end);
  const running: RunningGroup[] = [];
  for (const group of groups) {
    if (end.aborted) break;
    const started = startGroup(group, fail);
    running.push(started);
    await Promise.race([started.ready, stopping]);
  }
  await stopping;

  const { reason } = end as { readonly reason: unknown };
  logger.info('stopping', { reason: reason instanceof Error ? reason.message : reason });
  const deadline = clock.monotonic() + stopTimeoutMs;
  for (const [later, group] of [...running.entries()].reverse()) {
    group.abort(reason);
    await stopGroup(group, options, deadline - clock.monotonic() - later * reservedMs);
  }
  return exitCode;
};
