import type { Finding } from '../../gardener/shoot-conditions.ts';
import { checkError, failed, healthy } from './finding.ts';
import type { CheckInput, HealthzObservation } from './observation.ts';

/** Removes the response time from a message, because that part differs from check to check. */
export const withoutResponseTime = (message: string): string => message.replace(/ ?\[response_time:\d+ms\]/, '');

const judgeHealthz = ({ status, text, responseMs }: HealthzObservation): Finding => {
  const took = `[response_time:${responseMs}ms]`;
  if (status === undefined || status >= 400) {
    return failed('HealthzRequestFailed', `Request to API server /healthz endpoint failed. ${took} (${text})`);
  }
  if (status === 200) {
    const message = `API server /healthz endpoint responded with success status code. ${took}`;
    return healthy('HealthzRequestSucceeded', message);
  }
  const message = `API server /healthz endpoint check returned a non ok status code ${status}. (${text})`;
  return failed('HealthzRequestError', message);
};

export const apiServerFinding = ({ view, seed }: CheckInput): Finding => {
  if (view.kind === 'observed') return judgeHealthz(view.healthz);
  // Nobody knows whether an API server runs, and none was called.
  if (!seed.deployments.ok) return checkError(seed.deployments.error);
  return failed('APIServerDown', 'Could not reach API server during client initialization.');
};
