/**
 * A promise that `begin` settles after it has returned, and that rejects with the signal's reason on abort. What `begin` returns is called once, when the promise has
 * settled in any way, with whether it was resolved. No listener stays in `signal`, on which every request of a process may hang.
 */
export const abortable = <T>(
  signal: AbortSignal,
  begin: (resolve: (value: T) => void, reject: (reason: unknown) => void) => (isResolved: boolean) => void,
): Promise<T> =>
  new Promise((resolve, reject) => {
    let isSettled = false;
    const settle = (isResolved: boolean, act: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener('abort', abort);
      act();
      clean(isResolved);
    };
    const fail = (reason: unknown): void => settle(false, () => reject(reason));
    const abort = (): void => fail(signal.reason);
    const clean = begin((value) => settle(true, () => resolve(value)), fail);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
