import type { Endpoint } from '../client/index.ts';
import type { ClusterAccess } from './access.ts';
import type { Files } from './files.ts';
import { followSecurity } from './tls-files.ts';
import { tokenFileCredentials } from './token-file.ts';

const directory = '/var/run/secrets/kubernetes.io/serviceaccount';

const readIfThere = async (files: Files, name: string): Promise<string | undefined> => {
  try {
    return await files.read(`${directory}/${name}`);
  } catch {
    return undefined;
  }
};

export interface InCluster {
  readonly access?: ClusterAccess;
  /** Why this is no pod with a service account. */
  readonly problem?: string;
}

/** The service account of the pod this runs in (client-go `rest/config.go`, InClusterConfig). */
export const inClusterAccess = async (
  env: Readonly<Record<string, string | undefined>>,
  files: Files,
): Promise<InCluster> => {
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const port = Number(env.KUBERNETES_SERVICE_PORT ?? '');
  if (host === '') return { problem: 'KUBERNETES_SERVICE_HOST is not set' };
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return { problem: 'KUBERNETES_SERVICE_PORT is not a port' };
  const token = await readIfThere(files, 'token');
  if (token === undefined) return { problem: `${directory}/token cannot be read` };
  const ca = await readIfThere(files, 'ca.crt');
  if (ca === undefined) return { problem: `${directory}/ca.crt cannot be read` };
  const namespace = (await readIfThere(files, 'namespace'))?.trim();
  const endpoint: Endpoint = { protocol: 'https:', host, port, basePath: '' };
  const sources = {
    ca: { path: 'service account', file: `${directory}/ca.crt` },
    cert: undefined,
    key: undefined,
    rejectUnauthorized: true,
  };
  return {
    access: {
      source: 'service account of the pod',
      endpoint,
      security: followSecurity(sources, files),
      credentials: tokenFileCredentials(`${directory}/token`, files),
      ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    },
  };
};
