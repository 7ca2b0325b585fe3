import { homedir } from 'node:os';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import { commandStack } from '../kubernetes/client/index.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { systemClock, systemRandom } from '../process/index.ts';
import { type OpenSeedAccess, createSeedAccess } from './seed-access.ts';

export interface ConnectOptions {
  /** `process.env`, for `$KUBECONFIG` and the service account of the pod. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the seed's kubeconfig. Absent: `$KUBECONFIG`, else the service account of the pod, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly logger: Logger;
  /** Default `dependency-watchdog-healthcheck`. */
  readonly userAgent?: string;
  /** Secrets of a control-plane namespace, the first that exists, whose key `kubeconfig` reaches the shoot. Default those of gardener. */
  readonly shootSecrets?: readonly string[];
  /** Whether the kubeconfig of a shoot may name an `http://` server, which anybody on the way can read and change. Default false. */
  readonly allowInsecureShoots?: boolean;
}

/** Access to a seed and its shoots, as `runHealthChecks` takes it. `close` closes all connections. */
export type SeedConnection = OpenSeedAccess;

/** The messages name a program's flag; here it is an option. */
export const blameOption = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replaceAll('--kubeconfig', 'the option kubeconfig'));
};

/**
 * Connects to the seed: pooled connections, retries after a `Retry-After`, renewed credentials, and the clock of the machine. Opens no connection
 * yet. Rejects with a KubeconfigError that names the wrong field.
 */
export const connect = async (options: ConnectOptions): Promise<SeedConnection> => {
  const {
    env,
    kubeconfig,
    logger,
    userAgent = 'dependency-watchdog-healthcheck',
    shootSecrets,
    allowInsecureShoots,
  } = options;
  const clock: Clock = systemClock();
  const path = kubeconfig === undefined ? {} : { path: kubeconfig };
  const access = await loadOperatorKubeconfig({ ...path, env, homedir, clock }).catch(blameOption);
  const transport = connectCluster({ access, clock, logger, userAgent });
  const kube = commandStack(transport, clock);
  const seed = createSeedAccess({ clock, random: systemRandom(), kube, userAgent, shootSecrets, allowInsecureShoots });
  return {
    ...seed,
    close: () => {
      seed.close();
      transport.close();
    },
  };
};
