import { describe, expect, it } from 'vitest';
import { bad, checkInput, observed } from '../testing/check-input.ts';
import { checkError, failed, healthy } from './finding.ts';
import { apiServerFinding } from './api-server.ts';
import type { HealthzObservation, ShootObservation } from './observation.ts';

describe('APIServerAvailable', () => {
  it.each<[HealthzObservation, object]>([
    [
      { status: 200, text: 'ok', responseMs: 12 },
      healthy(
        'HealthzRequestSucceeded',
        'API server /healthz endpoint responded with success status code. [response_time:12ms]',
      ),
    ],
    [
      { status: 399, text: 'x', responseMs: 12 },
      failed('HealthzRequestError', 'API server /healthz endpoint check returned a non ok status code 399. (x)'),
    ],
    ...([400, undefined] as const).map((status): [HealthzObservation, object] => [
      { status, text: 'x', responseMs: 3 },
      failed('HealthzRequestFailed', 'Request to API server /healthz endpoint failed. [response_time:3ms] (x)'),
    ]),
  ])('%j', (healthz, finding) => {
    expect(apiServerFinding(checkInput({ view: observed({ healthz }) }))).toEqual(finding);
  });

  it.each<ShootObservation>([{ kind: 'not-running' }, { kind: 'no-client', error: 'no Secret' }])('%j', (view) => {
    expect(apiServerFinding(checkInput({ view }))).toEqual(
      failed('APIServerDown', 'Could not reach API server during client initialization.'),
    );
  });

  it('is not known if it is not known whether there is an API server', () => {
    const input = checkInput({ view: { kind: 'no-client', error: 'x' }, seed: { deployments: bad('no right') } });
    expect(apiServerFinding(input)).toEqual(checkError('no right'));
  });
});
