/**
 * Returns a promise that `begin` settles, after `begin` has returned, and that rejects with the signal's reason on abort. The function that `begin` returns is
 * called once when the promise has settled, with true if it was resolved. Leaves no listener on `signal`, which all requests of a process may share.
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
