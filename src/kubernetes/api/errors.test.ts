import { expect, it } from 'vitest';
import { ApiError, type ApiErrorCode, unlessNotFound } from './errors.ts';

it('an ApiError keeps the details of the response', () => {
  const cause = new Error('reset');
  const error = new ApiError({
    code: 'TooManyRequests',
    message: 'slow down',
    status: 429,
    retryAfterMs: 3_000,
    rateLimited: true,
    cause,
  });
  const known = { name: 'ApiError', message: 'slow down', status: 429, retryAfterMs: 3_000, rateLimited: true, cause };
  expect(error).toMatchObject(known);
  const bare = new ApiError({ code: 'ConnectionError', message: 'x' });
  expect([bare.status, bare.retryAfterMs, bare.rateLimited, Object.hasOwn(bare, 'cause')]).toEqual([
    undefined,
    undefined,
    false,
    false,
  ]);
});

it('unlessNotFound returns undefined for NotFound and rejects for every other failure', async () => {
  const refused = (code: ApiErrorCode): Promise<string> => Promise.reject(new ApiError({ code, message: 'x' }));
  expect(await unlessNotFound(Promise.resolve('found'))).toBe('found');
  expect(await unlessNotFound(refused('NotFound'))).toBeUndefined();
  await expect(unlessNotFound(refused('Forbidden'))).rejects.toMatchObject({ code: 'Forbidden' });
  await expect(unlessNotFound(Promise.reject(new TypeError('x')))).rejects.toThrow(TypeError);
});
