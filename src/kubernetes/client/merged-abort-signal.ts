/**
 * Returns a function that runs any number of tasks at the same time, each with its own signal that aborts with `parent`: Node reports more than
 * ten listeners of one signal as a leak. `AbortSignal.any` does not fit tasks that come and go as long as the process lives: Node 20 keeps
 * 37 bytes of each in `parent`.
 */
export const mergedAbortSignal = (
  parent: AbortSignal,
): (<T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>) => {
  const running = new Set<AbortController>();
  const abort = (): void => {
    for (const end of running) end.abort(parent.reason);
  };
  parent.addEventListener('abort', abort, { once: true });
  return async (work) => {
    const end = new AbortController();
    if (parent.aborted) end.abort(parent.reason);
    running.add(end);
    try {
      return await work(end.signal);
    } finally {
      running.delete(end);
    }
  };
};
