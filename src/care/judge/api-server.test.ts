import { describe, expect, it } from 'vitest';
import { bad, checkInput, observed } from '../testing/check-input.ts';
import { apiServerFinding, withoutResponseTime } from './api-server.ts';
import type { HealthzObservation, ShootObservation } from './observation.ts';

const down = 'Could not reach API server during client initialization.';

describe('APIServerAvailable', () => {
  it.each<[HealthzObservation, object]>([
    [
      { status: 200, text: 'ok', responseMs: 12 },
      {
        status: 'True',
        reason: 'HealthzRequestSucceeded',
        message: 'API server /healthz endpoint responded with success status code. [response_time:12ms]',
      },
    ],
    [
      { status: 399, text: 'x', responseMs: 12 },
      {
        status: 'Failed',
        reason: 'HealthzRequestError',
        message: 'API server /healthz endpoint check returned a non ok status code 399. (x)',
      },
    ],
    [
      { status: 400, text: 'x', responseMs: 3 },
      {
        status: 'Failed',
        reason: 'HealthzRequestFailed',
        message: 'Request to API server /healthz endpoint failed. [response_time:3ms] (x)',
      },
    ],
    [
      { text: 'connection refused', responseMs: 3 },
      {
        status: 'Failed',
        reason: 'HealthzRequestFailed',
        message: 'Request to API server /healthz endpoint failed. [response_time:3ms] (connection refused)',
      },
    ],
  ])('%j', (healthz, finding) => {
    expect(apiServerFinding(checkInput({ view: observed({ healthz }) }))).toEqual(finding);
  });

  it.each<[ShootObservation]>([[{ kind: 'not-running' }], [{ kind: 'no-client', error: 'no Secret' }]])(
    '%j',
    (view) => {
      expect(apiServerFinding(checkInput({ view }))).toEqual({
        status: 'Failed',
        reason: 'APIServerDown',
        message: down,
      });
    },
  );

  it('is not known if it is not known whether there is an API server', () => {
    const input = checkInput({ view: { kind: 'no-client', error: 'x' }, seed: { deployments: bad('no right') } });
    expect(apiServerFinding(input)).toEqual({ status: 'Unknown', reason: 'ConditionCheckError', message: 'no right' });
  });
});

describe('withoutResponseTime', () => {
  it.each([
    ['Fine. [response_time:3ms]', 'Fine.'],
    ['Fine.[response_time:3ms] (again)', 'Fine. (again)'],
    ['[response_time:3ms', '[response_time:3ms'],
    ['] [response_time:3', '] [response_time:3'],
    ['Fine [again].', 'Fine [again].'],
  ])('%j is %j', (message, rest) => {
    expect(withoutResponseTime(message)).toBe(rest);
  });

  it('takes linear time for a malicious message', () => {
    const message = '[response_time:'.repeat(100_000);
    expect(withoutResponseTime(message)).toBe(message);
  });
});
