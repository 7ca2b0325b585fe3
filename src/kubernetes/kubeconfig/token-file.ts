import { ApiError } from '../api/errors.ts';
import { type Credentials, bearer } from '../client/index.ts';
import { type Files, whyUnreadable } from './files.ts';
import { createReloading } from './reloading.ts';

const load = async (path: string, files: Files): Promise<string> => {
  const fail = (problem: string): ApiError =>
    new ApiError({ code: 'ConnectionError', message: `token file ${path}: ${problem}` });
  let token: string;
  try {
    token = (await files.read(path)).trim();
  } catch (error) {
    throw fail(whyUnreadable(error));
  }
  if (token === '') throw fail('is empty');
  if (/[^\x21-\x7e]/.test(token)) throw fail('holds characters that no token has');
  return bearer(token);
};

/**
 * The bearer token in a file that somebody renews, such as a projected service-account token: looked at before every request, read when it
 * changed. (client-go reads it once a minute.)
 */
export const tokenFileCredentials = (path: string, files: Files): Credentials => {
  const token = createReloading({
    stamp: () => files.stamp(path).catch(() => ''),
    load: () => load(path, files),
  });
  return {
    authorization: () => token.current(),
    reload: () => {
      token.forget();
      return true;
    },
  };
};
