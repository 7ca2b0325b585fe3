import { type Finding, failed, healthy } from './finding.ts';
import type { CheckInput, HealthzObservation } from './observation.ts';

/** Removes the first `[response_time:...]` and the space before it from a message, because that part differs from check to check. */
export const withoutResponseTime = (message: string): string => {
  const start = message.indexOf('[response_time:');
  const end = start < 0 ? -1 : message.indexOf(']', start);
  if (end < 0) return message;
  const before = message.slice(0, start);
  return `${before.endsWith(' ') ? before.slice(0, -1) : before}${message.slice(end + 1)}`;
};

const judgeHealthz = (healthz: HealthzObservation): Finding => {
  const took = `[response_time:${healthz.responseMs}ms]`;
  if (healthz.kind === 'failed') {
    const text = `Request to API server /healthz endpoint failed. ${took} (${healthz.error})`;
    return failed('HealthzRequestFailed', text);
  }
  const { status, body } = healthz;
  if (status === 200) {
    const text = `API server /healthz endpoint responded with success status code. ${took}`;
    return healthy('HealthzRequestSucceeded', text);
  }
  const text = `API server /healthz endpoint check returned a non ok status code ${status}. (${body})`;
  return failed('HealthzRequestError', text);
};

/** Checks APIServerAvailable. Like those of the other types, it follows gardener's `pkg/utils/kubernetes/health/checker` and `shoot/care/health.go`. */
export const checkApiServer = ({ view }: CheckInput): Finding =>
  view.kind === 'observed'
    ? judgeHealthz(view.healthz)
    : failed('APIServerDown', 'Could not reach API server during client initialization.');
