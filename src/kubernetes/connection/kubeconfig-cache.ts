import type { Endpoint } from '../transport/index.ts';
import { createHash } from 'node:crypto';
import { KubeconfigError } from '../api/errors.ts';
import type { ShootPolicy } from '../api/shoot-connection.ts';
import {
  type Environment,
  type ShootEndpoint,
  parseUntrustedKubeconfig,
  refuseInsecure,
  throughEnvironment,
} from '../kubeconfig/index.ts';

const defaultMostKubeconfigs = 4_096;

/** A shoot's API server; its TLS settings hold the session of the last connection. */
export interface CachedKubeconfig extends ShootEndpoint {
  /** Description of the server in errors; its address is a secret. */
  readonly target: string;
}

/** Cache of parsed kubeconfigs. Connectors that share it resume each other's TLS sessions. */
export interface KubeconfigCache {
  /** Returns the parsed kubeconfig. Throws a KubeconfigError for a text that is not a kubeconfig or is refused. */
  lookUp(kubeconfig: string, policy?: ShootPolicy): CachedKubeconfig;
}

const loopback = /^(?:127(?:\.\d+){3}|::1)$/;

const targetOf = ({ host }: Endpoint, proxy: 'none' | 'its own' | 'environment'): string => {
  const target = 'API server of the kubeconfig';
  if (proxy === 'environment') return `${target}, through the proxy of the environment`;
  return proxy === 'none' && loopback.test(host)
    ? `${target}, whose server is localhost: that is the pod or machine of this program itself`
    : target;
};

/** Returns an error instead of throwing, so that refusals are cached, too: a hostile text costs most to parse. */
const read = (kubeconfig: string, env: Environment): CachedKubeconfig | KubeconfigError => {
  try {
    const shoot = parseUntrustedKubeconfig(kubeconfig);
    const endpoint = throughEnvironment(shoot.endpoint, env);
    const proxy = endpoint.proxy === undefined ? 'none' : shoot.endpoint.proxy ? 'its own' : 'environment';
    return { ...shoot, endpoint, target: targetOf(endpoint, proxy) };
  } catch (error) {
    if (error instanceof KubeconfigError) return error;
    throw error;
  }
};

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');

export interface KubeconfigCacheOptions {
  /** Maximum number of kubeconfigs; the least recently used is dropped first. Default 4096: two for each of 2000 shoots. */
  readonly most?: number;
  /** Environment of the process, for its proxies. Default: no proxies. */
  readonly env?: Environment;
}

export const createKubeconfigCache = ({
  most = defaultMostKubeconfigs,
  env = {},
}: KubeconfigCacheOptions = {}): KubeconfigCache => {
  const known = new Map<string, CachedKubeconfig | KubeconfigError>();
  return {
    lookUp: (kubeconfig, policy) => {
      const hash = hashOf(kubeconfig);
      const entry = known.get(hash) ?? read(kubeconfig, env);
      known.delete(hash);
      known.set(hash, entry);
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
      if (entry instanceof KubeconfigError) throw entry;
      refuseInsecure(entry, policy);
      return entry;
    },
  };
};
