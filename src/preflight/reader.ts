import { type Right, formatRight } from '../kubernetes/api/access.ts';
import type { CallResult, Call } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { CallOptions } from '../kubernetes/api/kube.ts';
import type { CommandContext } from '../process/index.ts';
import type { CheckResult, PreflightCheck, PreflightFinding } from './checks/check.ts';

/** Access to the seed with the rights of the user who runs the command. */
export type Reader = Pick<CommandContext, 'client' | 'clock' | 'signal' | 'deadline'>;

const requestTimeoutMs = 30_000;

/** Returns the options of a call. `limitMs`: timeout of one request, or of all pages of a list. */
export const optionsOf = ({ clock, signal, deadline }: Reader, limitMs = requestTimeoutMs): CallOptions => ({
  signal,
  timeoutMs: Math.max(1, Math.min(limitMs, deadline - clock.monotonic())),
});

export const send = <T>(reader: Reader, call: Call<T>, limitMs?: number): Promise<CallResult<T>> =>
  reader.client.call(call, optionsOf(reader, limitMs));

/** A read that failed. The checks that need it cannot be made, for the reason of the finding. */
export class ReadFailed extends Error {
  readonly finding: PreflightFinding;

  constructor(finding: PreflightFinding) {
    super(finding.detail);
    this.finding = finding;
  }
}

/** Starts a read, for any number of checks that await it later. */
export const started = <T>(read: Promise<T>): Promise<T> => {
  read.catch(() => undefined);
  return read;
};

/** Starts a read. It rejects with a ReadFailed for an ApiError, which names `right` if the request was refused, and as `work` does for all other errors. */
export const attempt = <T>(right: Right, work: () => Promise<T>): Promise<T> =>
  started(
    work().catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      throw new ReadFailed(
        error.code === 'Forbidden'
          ? { code: 'read-refused', detail: `you may not ${formatRight(right)}` }
          : { code: 'read-failed', detail: error.message },
      );
    }),
  );

/** Makes a check, or several, or reports that it could not be made because a read failed. */
export const check = async (
  about: Pick<PreflightCheck, 'subject' | 'name'>,
  judge: () => Promise<CheckResult | readonly PreflightCheck[]>,
): Promise<readonly PreflightCheck[]> => {
  try {
    const judged = await judge();
    return 'detail' in judged ? [{ ...about, ...judged }] : judged;
  } catch (error) {
    if (!(error instanceof ReadFailed)) throw error;
    return [{ ...about, detail: 'could not be checked', findings: [error.finding] }];
  }
};
