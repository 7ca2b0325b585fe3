import { createHash } from 'node:crypto';
import { KubeconfigError } from '../domain/index.ts';
import type { Clock, ShootConnector } from '../ports/index.ts';
import { staticCredentials, withCredentials } from './auth.ts';
import { createKubeClient } from './client.ts';
import { parseUntrustedKubeconfig, type ShootEndpoint } from './kubeconfig/untrusted.ts';
import { createSecurity, type Security } from './security.ts';
import { createTransport } from './transport.ts';

const defaultMostKubeconfigs = 4_096;
/** A list of 10,000 nodes is about 120 MB. */
const bodyLimitBytes = 256 * 1024 * 1024;

export interface ShootConnectorOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Parsed kubeconfigs, with their TLS sessions, that are kept; the least recently used goes first. Default 4096: two for each of 2000 shoots. */
  readonly mostKubeconfigs?: number;
}

interface Known {
  readonly shoot: ShootEndpoint;
  readonly security: Security;
}

/** A refusal is remembered as well: reading a hostile text costs most. */
const read = (kubeconfig: string): Known | KubeconfigError => {
  try {
    const shoot = parseUntrustedKubeconfig(kubeconfig);
    return { shoot, security: createSecurity(shoot.tls) };
  } catch (error) {
    if (error instanceof KubeconfigError) return error;
    throw error;
  }
};

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/**
 * Connections to shoots: one TCP connection per run, shared by the run's requests one after the other, and never used again; the TLS
 * session of the last run is resumed as long as the kubeconfig is the same text.
 */
export const createShootConnector = (options: ShootConnectorOptions): ShootConnector => {
  const { clock, userAgent, mostKubeconfigs = defaultMostKubeconfigs } = options;
  const known = new Map<string, Known | KubeconfigError>();

  const lookUp = (kubeconfig: string): Known => {
    const hash = hashOf(kubeconfig);
    const entry = known.get(hash) ?? read(kubeconfig);
    known.delete(hash);
    known.set(hash, entry);
    const [oldest] = known.keys();
    if (known.size > mostKubeconfigs && oldest !== undefined) known.delete(oldest);
    if (entry instanceof KubeconfigError) throw entry;
    return entry;
  };

  return {
    connect: (kubeconfig) => {
      const { shoot, security } = lookUp(kubeconfig);
      const transport = createTransport({
        endpoint: shoot.endpoint,
        security: async () => security,
        clock,
        userAgent,
        target: 'API server of the kubeconfig',
        maxConnections: 1,
      });
      const kube = withCredentials(transport, staticCredentials(shoot.authorization));
      return { client: createKubeClient({ kube, clock, bodyLimitBytes }), close: () => transport.close() };
    },
  };
};
