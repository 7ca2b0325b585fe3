import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import { endFailure, rememberFailure } from './excuse.ts';
import { type ProbeMemory, emptyProbeMemory, type ReadError } from './judgement.ts';

const answer = (code: ApiErrorCode) => new ApiError({ code, message: code });
const fault = (code: string, phase: 'connecting' | 'waiting for the answer' | 'reading the answer') =>
  new ApiError({ code: code === 'ETIMEDOUT' ? 'Timeout' : 'ConnectionError', message: code, cause: { code, phase } });

/** Memory after failed runs that began at these times, each with its error. */
const after = (...runs: readonly (readonly [startedAt: number, error: ReadError])[]): ProbeMemory =>
  runs.reduce((memory, [startedAt, error]) => rememberFailure(memory, startedAt, error), emptyProbeMemory);

describe('a failure of the API server', () => {
  it.each([
    ['500', answer('ServerError')],
    ['no answer on a connection that stands', fault('ETIMEDOUT', 'waiting for the answer')],
    ['a reset in place of an answer', fault('ECONNRESET', 'waiting for the answer')],
    ['an answer that breaks off', fault('ECONNRESET', 'reading the answer')],
  ])('is proved by %s, and excuses silence if it lasts 15 s', (_, error) => {
    const memory = after([100_000, error], [105_000, error]);
    expect(endFailure(memory, { receivedAt: 114_999 })).toEqual(emptyProbeMemory);
    expect(endFailure(memory, { receivedAt: 115_000 })).toEqual({ ...emptyProbeMemory, excusedUntil: 115_000 });
  });

  it.each([
    ['a refused connection', fault('ECONNREFUSED', 'connecting')],
    ['a reset while connecting', fault('ECONNRESET', 'connecting')],
    ['no connection in time', fault('ETIMEDOUT', 'connecting')],
    ['an unknown name', fault('ENOTFOUND', 'connecting')],
    ['a certificate that has expired', fault('CERT_HAS_EXPIRED', 'connecting')],
    ['a process without file descriptors', fault('EMFILE', 'waiting for the answer')],
  ])('is not proved by %s, which excuses nothing: only we were cut off, as far as is known', (_, error) => {
    expect(endFailure(after([100_000, error]), { receivedAt: 160_000 })).toEqual({
      ...emptyProbeMemory,
      cutOffUntil: 160_000,
    });
  });

  it.each([
    ['429', answer('TooManyRequests')],
    ['401', answer('Unauthorized')],
    ['403', answer('Forbidden')],
    ['an answer that makes no sense', answer('MalformedResponse')],
    ['a kubeconfig that cannot be used', new KubeconfigError('users[0].user.exec', 'is not allowed')],
  ])('is not proved by %s, nor are we cut off', (_, error) => {
    expect(endFailure(after([100_000, error]), { receivedAt: 160_000 })).toEqual(emptyProbeMemory);
  });

  it('lasts from its first proof, not from the time before in which we could not connect', () => {
    const memory = after([100_000, fault('ECONNREFUSED', 'connecting')], [110_000, answer('ServerError')]);
    expect(endFailure(memory, { receivedAt: 124_999 })).toEqual({ ...emptyProbeMemory, cutOffUntil: 124_999 });
    expect(endFailure(memory, { receivedAt: 125_000 })).toEqual({ ...emptyProbeMemory, excusedUntil: 125_000 });
  });

  it('ends when we cannot connect any more', () => {
    const late = fault('ETIMEDOUT', 'waiting for the answer');
    const refused = fault('ECONNREFUSED', 'connecting');
    const brief = after([100_000, late], [105_000, refused], [130_000, refused]);
    expect(endFailure(brief, { receivedAt: 132_000 })).toEqual({ ...emptyProbeMemory, cutOffUntil: 132_000 });
    const long = after([100_000, late], [110_000, late], [120_000, refused]);
    expect(endFailure(long, { receivedAt: 132_000 })).toEqual({
      ...emptyProbeMemory,
      excusedUntil: 120_000,
      cutOffUntil: 132_000,
    });
  });

  it.each([answer('TooManyRequests'), answer('Unauthorized'), answer('MalformedResponse')])(
    'ends with an answer that proves none: $code',
    (other) => {
      const once = after([100_000, answer('ServerError')], [102_000, other], [112_000, other]);
      expect(endFailure(once, { receivedAt: 122_000 })).toEqual(emptyProbeMemory);
    },
  );

  it('ends with an answered list: an older one excuses nothing any more', () => {
    const ended = endFailure(after([100_000, answer('ServerError')]), { receivedAt: 105_000 });
    const again = rememberFailure(ended, 118_000, answer('ServerError'));
    expect(endFailure(again, { receivedAt: 120_000 }).excusedUntil).toBeUndefined();
  });
});
