import { expect, it } from 'vitest';
import { ApiError } from '../kubernetes/api/errors.ts';
import { currentUser } from './namespaces.ts';

it('names no user if the API server refuses to report one, or cannot', async () => {
  const who = (code: ApiError['code']) => {
    const client = { call: async () => Promise.reject(new ApiError({ code, message: 'no' })) };
    return currentUser({ client, signal: new AbortController().signal }, { version: '1.0.0' });
  };
  expect([await who('Forbidden'), await who('NotFound')]).toEqual(['dwd 1.0.0', 'dwd 1.0.0']);
  await expect(who('ConnectionError')).rejects.toThrow('no');
});
