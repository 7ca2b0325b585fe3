import { expect, it } from 'vitest';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { currentUser } from './namespaces.ts';

const refusing = (code: ApiError['code']): KubeClient => ({
  call: async () => Promise.reject(new ApiError({ code, message: 'no' })),
});
const { signal } = new AbortController();
const who = (code: ApiError['code'], env: Readonly<Record<string, string>>) =>
  currentUser({ client: refusing(code), signal }, { version: '1.0.0', env });

it('uses the login name if the API server does not report a user name', async () => {
  expect(await who('Forbidden', { USER: 'kim' })).toBe('kim (login), dwd 1.0.0');
  expect(await who('NotFound', { LOGNAME: 'jo' })).toBe('jo (login), dwd 1.0.0');
  expect(await who('Forbidden', {})).toBe('dwd 1.0.0');
  await expect(who('ConnectionError', { USER: 'kim' })).rejects.toThrow('no');
});
