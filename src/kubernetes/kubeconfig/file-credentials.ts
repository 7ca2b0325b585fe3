import type { Security } from '../transport/index.ts';
import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { ApiError, KubeconfigError, errorText } from '../api/errors.ts';
import { type Credentials, bearer } from '../client/index.ts';
import { type Named, type Pem, type TlsFields, operatorMiB, securityOf } from './document.ts';
import * as fields from './fields.ts';
import { UnfitFileError, readRegularFile } from './regular-file.ts';

/** Reads a whole file as UTF-8. Rejects as `readRegularFile` does. */
export const readText = async (path: string): Promise<string> => (await readRegularFile(path, operatorMiB)).toString();

/**
 * Returns a text that differs after every change of the file. Kubernetes updates the files of a mounted Secret by switching a symbolic link: the inode changes,
 * the time perhaps not. Rejects with Node's error.
 */
const stampOf = async (path: string): Promise<string> => {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs].join();
};

/** Returns true if the file does not exist, or a part of its path is not a directory. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** Returns a phrase that explains why a file cannot be read. */
export const whyUnreadable = (error: unknown): string => {
  if (isMissing(error)) return 'does not exist';
  if (error instanceof UnfitFileError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
  return code === 'EACCES' || code === 'EPERM' ? 'may not be read by this process' : `cannot be read (${code})`;
};

/** A value that follows files on disk. */
interface Reloading<T> {
  /**
   * Resolves with the current value, the same object as long as the files are unchanged. While a changed file cannot be loaded (it or its
   * counterpart may not be fully written), it returns the last good value; it rejects only if there never was one.
   */
  current(): Promise<T>;
  /** Makes the next `current` load again, even if the files are unchanged. */
  forget(): void;
}

interface ReloadingOptions<T> {
  /** Returns a text that differs after every change. */
  readonly stamp: () => Promise<string>;
  readonly load: () => Promise<T>;
}

const createReloading = <T>({ stamp, load }: ReloadingOptions<T>): Reloading<T> => {
  let known: { readonly stamp: string | undefined; readonly value: T } | undefined;
  return {
    current: async () => {
      try {
        const now = await stamp();
        // The stamp is taken before the load, so the next call loads a change in between.
        if (known?.stamp !== now) known = { stamp: now, value: await load() };
      } catch (error) {
        if (known === undefined) throw error;
      }
      return known.value;
    },
    forget: () => {
      if (known !== undefined) known = { ...known, stamp: undefined };
    },
  };
};

const loadToken = async (path: string): Promise<string> => {
  const fail = (problem: string): ApiError =>
    new ApiError({ code: 'ConnectionError', message: `token file ${path}: ${problem}` });
  let token: string;
  try {
    token = (await readText(path)).trim();
  } catch (error) {
    throw fail(whyUnreadable(error));
  }
  if (token === '') throw fail('is empty');
  if (/[^\x21-\x7e]/.test(token)) throw fail('holds characters that no token has');
  return bearer(token);
};

/**
 * Returns credentials by the bearer token in a file that is renewed, such as a projected service-account token: the file is checked before every request,
 * and read if it has changed. (client-go reads it once a minute.)
 */
export const tokenFileCredentials = (path: string): Credentials => {
  const token = createReloading({
    stamp: () => stampOf(path).catch(() => ''),
    load: () => loadToken(path),
  });
  return {
    authorization: () => token.current(),
    reload: () => {
      token.forget();
      return true;
    },
  };
};

/** An entry with the directory of its file, to which its relative paths refer. */
export interface OperatorEntry extends Named {
  readonly directory: string;
}

/** Returns the path in a field, resolved from the directory of its file; undefined if it is not set. */
export const asPath = (entry: OperatorEntry, name: string): string | undefined => {
  const path = fields.asText(fields.member(entry.body, entry.path, name));
  return path === undefined || isAbsolute(path) ? path : join(entry.directory, path);
};

/** Place of a PEM: inline, or in a file. */
interface Source extends Pem {
  readonly file?: string | undefined;
}

/** Returns the source of a PEM. Inline data takes precedence over the file, as in client-go (`rest.TLSClientConfig`). */
const sourceOf = (entry: OperatorEntry, name: string): Source => {
  const data = fields.member(entry.body, entry.path, `${name}-data`);
  const text = fields.asBase64(data);
  if (text !== undefined) return { path: data.path, text };
  return { path: `${entry.path}.${name}`, text, file: asPath(entry, name) };
};

const read = async ({ path, text, file }: Source): Promise<Pem> => {
  if (file === undefined) return { path, text };
  try {
    return { path, text: await readText(file) };
  } catch (error) {
    throw new KubeconfigError(path, `${file} ${whyUnreadable(error)}`);
  }
};

/** Sources of the TLS settings of a cluster and a user. */
export interface TlsSources extends TlsFields {
  readonly ca: Source;
  readonly cert: Source;
  readonly key: Source;
}

export const tlsSourcesOf = (cluster: OperatorEntry, user: OperatorEntry): TlsSources => {
  const [cert, key] = [sourceOf(user, 'client-certificate'), sourceOf(user, 'client-key')];
  // client-go ignores a key without certificate.
  const isIgnored = cert.text === undefined && cert.file === undefined;
  return {
    ca: sourceOf(cluster, 'certificate-authority'),
    cert,
    key: isIgnored ? { path: key.path, text: undefined } : key,
    insecure: fields.member(cluster.body, cluster.path, 'insecure-skip-tls-verify'),
  };
};

/** Loads the current PEM texts. Rejects with a KubeconfigError if one cannot be read. */
export const loadPems = async ({ ca, cert, key, insecure }: TlsSources): Promise<TlsFields> => ({
  ca: await read(ca),
  cert: await read(cert),
  key: await read(key),
  insecure,
});

/** Follows the files: a changed CA or client certificate results in new settings for new connections. */
export const followSecurity = (sources: TlsSources): (() => Promise<Security>) => {
  const watched = [sources.ca, sources.cert, sources.key].flatMap(({ file }) => file ?? []);
  const security = createReloading({
    stamp: async () => (await Promise.all(watched.map(stampOf))).join(';'),
    load: async () => securityOf(await loadPems(sources)),
  });
  return async () => {
    try {
      return await security.current();
    } catch (error) {
      throw new ApiError({ code: 'ConnectionError', message: errorText(error) });
    }
  };
};
