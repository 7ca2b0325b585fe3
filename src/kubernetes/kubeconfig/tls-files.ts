import { ApiError, KubeconfigError } from '../api/errors.ts';
import { type Security, type TlsMaterial, createSecurity } from '../client/index.ts';
import { type Files, whyUnreadable } from './files.ts';
import { type OperatorEntry, asPath } from './operator-files.ts';
import { createReloading } from './reloading.ts';
import * as fields from './fields.ts';

/** A PEM that stands inline or in a file. */
interface Source {
  /** Field path for messages. */
  readonly path: string;
  readonly inline?: string;
  readonly file?: string;
}

/** Inline data wins over the file, as in client-go (`rest.TLSClientConfig`). */
const sourceOf = (entry: OperatorEntry, name: string): Source | undefined => {
  const data = fields.member(entry.body, entry.path, `${name}-data`);
  const inline = fields.asBase64(data);
  if (inline !== undefined) return { path: data.path, inline };
  const file = asPath(entry, name);
  return file === undefined ? undefined : { path: `${entry.path}.${name}`, file };
};

const read = async (source: Source | undefined, files: Files): Promise<string | undefined> => {
  if (source?.file === undefined) return source?.inline;
  try {
    return await files.read(source.file);
  } catch (error) {
    throw new KubeconfigError(source.path, `${source.file} ${whyUnreadable(error)}`);
  }
};

export interface TlsSources {
  readonly ca: Source | undefined;
  readonly cert: Source | undefined;
  readonly key: Source | undefined;
  readonly rejectUnauthorized: boolean;
}

/** Throws a KubeconfigError. */
export const tlsSourcesOf = (cluster: OperatorEntry, user: OperatorEntry): TlsSources => {
  const insecureField = fields.member(cluster.body, cluster.path, 'insecure-skip-tls-verify');
  const insecure = fields.asFlag(insecureField);
  const ca = sourceOf(cluster, 'certificate-authority');
  const cert = sourceOf(user, 'client-certificate');
  const key = sourceOf(user, 'client-key');
  if (insecure && ca !== undefined) {
    throw new KubeconfigError(insecureField.path, 'contradicts the certificate authority; set one of them');
  }
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? 'client-certificate' : 'client-key';
    throw new KubeconfigError(`${user.path}.${missing}`, 'is not set, but its partner is');
  }
  return { ca, cert, key, rejectUnauthorized: !insecure };
};

/** The PEM texts of now. Throws a KubeconfigError when one cannot be read or is broken. */
export const loadMaterial = async (sources: TlsSources, files: Files): Promise<TlsMaterial> => {
  const ca = await read(sources.ca, files);
  const cert = await read(sources.cert, files);
  const key = await read(sources.key, files);
  if (ca !== undefined) fields.checkCertificates(sources.ca?.path ?? '', ca);
  if (cert !== undefined) fields.checkCertificates(sources.cert?.path ?? '', cert);
  const material: TlsMaterial = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    rejectUnauthorized: sources.rejectUnauthorized,
  };
  try {
    createSecurity(material);
  } catch {
    throw new KubeconfigError(
      sources.key?.path ?? '',
      'cannot be read as a PEM key, or is not the key of the certificate',
    );
  }
  return material;
};

/** Follows the files: a changed CA or client certificate makes new settings for new connections. */
export const followSecurity = (sources: TlsSources, files: Files): (() => Promise<Security>) => {
  const watched = [sources.ca, sources.cert, sources.key].flatMap((source) => source?.file ?? []);
  const security = createReloading({
    stamp: async () => (await Promise.all(watched.map((file) => files.stamp(file)))).join(';'),
    load: async () => createSecurity(await loadMaterial(sources, files)),
  });
  return async () => {
    try {
      return await security.current();
    } catch (error) {
      throw new ApiError({ code: 'ConnectionError', message: error instanceof Error ? error.message : String(error) });
    }
  };
};
