import { type Security, createSecurity } from '../transport/index.ts';
import { createHash } from 'node:crypto';
import { KubeconfigError } from '../api/errors.ts';
import type { ShootPolicy } from '../api/shoot-connection.ts';
import { type ShootEndpoint, parseUntrustedKubeconfig, refuseInsecure } from '../kubeconfig/index.ts';

const defaultMostKubeconfigs = 4_096;

export interface CachedKubeconfig {
  readonly shoot: ShootEndpoint;
  /** TLS settings, with the session of the last connection. */
  readonly security: Security;
  /** Description of the server in errors; its address is a secret. */
  readonly target: string;
}

/** Cache of parsed kubeconfigs. Connectors that share it resume each other's TLS sessions. */
export interface KubeconfigCache {
  /** Returns the parsed kubeconfig. Throws a KubeconfigError for a text that is not a kubeconfig or is refused. */
  lookUp(kubeconfig: string, policy?: ShootPolicy): CachedKubeconfig;
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|::1)$/;

/** Some tools make a kubeconfig for a forwarded port, such as vcluster's `https://localhost:8443`. */
const targetOf = ({ endpoint }: ShootEndpoint): string =>
  endpoint.proxy === undefined && loopback.test(endpoint.host)
    ? 'API server of the kubeconfig, whose server is localhost: that is the pod or machine of this program itself'
    : 'API server of the kubeconfig';

/** Returns an error instead of throwing, so that refusals are cached, too: a hostile text costs most to parse. */
const read = (kubeconfig: string): CachedKubeconfig | KubeconfigError => {
  try {
    const shoot = parseUntrustedKubeconfig(kubeconfig);
    return { shoot, security: createSecurity(shoot.tls), target: targetOf(shoot) };
  } catch (error) {
    if (error instanceof KubeconfigError) return error;
    throw error;
  }
};

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/** Creates a cache of at most `most` kubeconfigs, which drops the least recently used first. Default 4096: two for each of 2000 shoots. */
export const createKubeconfigCache = (most = defaultMostKubeconfigs): KubeconfigCache => {
  const known = new Map<string, CachedKubeconfig | KubeconfigError>();
  return {
    lookUp: (kubeconfig, policy) => {
      const hash = hashOf(kubeconfig);
      const entry = known.get(hash) ?? read(kubeconfig);
      known.delete(hash);
      known.set(hash, entry);
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
      if (entry instanceof KubeconfigError) throw entry;
      refuseInsecure(entry.shoot, policy);
      return entry;
    },
  };
};
