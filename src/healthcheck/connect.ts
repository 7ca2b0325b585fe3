import { homedir } from 'node:os';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import { retryThrottled } from '../kubernetes/client/index.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { systemClock, systemRandom } from '../process/index.ts';
import { type OpenSeedAccess, createSeedAccess } from './seed-access.ts';

export interface ConnectOptions {
  /** Of the process: `process.env`. Tells of `$KUBECONFIG`, and of the pod that this is. */
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

/** A seed and the way to its shoots, as `runHealthChecks` takes them. Closing it closes the connections to all of them. */
export type SeedConnection = OpenSeedAccess;

/** Those that load a kubeconfig speak of the flag of a program. */
export const blameOption = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replaceAll('--kubeconfig', 'the option kubeconfig'));
};

/**
 * Connects to the seed: pooled connections that are retried where the API server asks for it (`Retry-After`), with credentials that are
 * renewed, and a clock that is the machine's. Opens nothing yet. Rejects with a KubeconfigError that says what is wrong where.
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
  const kube = retryThrottled(transport, clock);
  const seed = createSeedAccess({ clock, random: systemRandom(), kube, userAgent, shootSecrets, allowInsecureShoots });
  return {
    ...seed,
    close: () => {
      seed.close();
      transport.close();
    },
  };
};
