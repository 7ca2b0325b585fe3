import { formatGoDuration } from '../kubernetes/api/duration.ts';
import { errorText } from '../kubernetes/api/errors.ts';
import { runInScope } from '../kubernetes/transport/index.ts';
import type { Clock } from '../ports/clock.ts';
import { whenAborted } from '../process/index.ts';
import type { CheckContext, CheckOutcome, CheckResult, HealthCheck } from './check.ts';

export interface RunChecksOptions {
  readonly clock: Clock;
  /** Context of all checks, without the signal. */
  readonly context: Omit<CheckContext, 'signal'>;
  /** Timeout of all checks together, in milliseconds. A check that has not finished by then is `Failed`. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Turns a result with an invalid status into a failure, because checks may be written in JavaScript. */
const checkedResult = (result: CheckResult): CheckOutcome => {
  const { status } = result as { readonly status: unknown };
  if (status === 'True' || status === 'False' || status === 'Progressing') return result;
  return { status: 'Failed', detail: `the check returned the status ${JSON.stringify(status)}, which is none` };
};

const withCodes = (outcome: CheckOutcome, { errorCodeCheck }: HealthCheck): CheckOutcome => {
  if (errorCodeCheck === undefined || (outcome.status !== 'False' && outcome.status !== 'Progressing')) return outcome;
  return { ...outcome, codes: [...(outcome.codes ?? []), ...errorCodeCheck(outcome.detail)] };
};

const runCheck = async (check: HealthCheck, context: CheckContext): Promise<CheckOutcome> => {
  if (check.preCheck !== undefined && !(await check.preCheck(context))) return { status: 'True' };
  return withCodes(checkedResult(await check.check(context)), check);
};

/** Runs all checks concurrently. The outcomes are in the order of the checks. Rejects only with `signal.reason`. */
export const runChecks = async (
  checks: readonly HealthCheck[],
  { clock, context, timeoutMs, signal }: RunChecksOptions,
): Promise<readonly CheckOutcome[]> => {
  const onTimeout = (): Error => new Error(`the check did not finish within ${formatGoDuration(timeoutMs)}`);
  const outcomes = await runInScope({ clock, timeoutMs, onTimeout, signal }, (until) => {
    // A check that ignores its signal must not delay the result.
    const aborted = whenAborted(until).then((): never => {
      throw until.reason;
    });
    return Promise.all(
      checks.map((check) =>
        Promise.race([runCheck(check, { ...context, signal: until }), aborted]).catch(
          (error: unknown): CheckOutcome => ({ status: 'Failed', detail: errorText(error) }),
        ),
      ),
    );
  });
  signal.throwIfAborted();
  return outcomes;
};
