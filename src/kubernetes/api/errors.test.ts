import { expect, it } from 'vitest';
import { ApiError, type ApiErrorCode, unlessNotFound } from './errors.ts';

it('unlessNotFound returns undefined for NotFound and rejects for every other failure', async () => {
  const refused = (code: ApiErrorCode): Promise<string> => Promise.reject(new ApiError({ code, message: 'x' }));
  expect(await unlessNotFound(Promise.resolve('found'))).toBe('found');
  expect(await unlessNotFound(refused('NotFound'))).toBeUndefined();
  await expect(unlessNotFound(refused('Forbidden'))).rejects.toMatchObject({ code: 'Forbidden' });
  await expect(unlessNotFound(Promise.reject(new TypeError('x')))).rejects.toThrow(TypeError);
});
