import { homedir } from 'node:os';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { createRateLimiter, limitedStack } from '../kubernetes/client/index.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import { type ProcessDeps, userAgentOf } from '../process/index.ts';
import type { CareSettings } from './settings.ts';

export interface GardenOptions {
  /** Path of a kubeconfig for the garden. If absent, care writes nothing. */
  readonly gardenKubeconfig?: string | undefined;
  /** True if care writes conditions even if another client writes them. */
  readonly takeOver: boolean;
}

/** A connection to the garden. */
export interface Garden {
  readonly kube: Kube;
  readonly close: () => void;
}

type GardenDeps = GardenOptions & Pick<ProcessDeps<CareSettings>, 'env' | 'flags' | 'logger' | 'meter' | 'version'>;

/** Connects to the garden. Resolves with undefined without a kubeconfig; rejects with a KubeconfigError. */
export const connectGarden = async (deps: GardenDeps, clock: Clock): Promise<Garden | undefined> => {
  const { gardenKubeconfig: path, env, flags, logger, meter } = deps;
  if (path === undefined) return undefined;
  const access = await loadOperatorKubeconfig({ path, env, homedir, clock }).catch(rethrowNamingGardenFlag);
  logger.info('garden', { source: `--garden-kubeconfig ${path}`, host: access.endpoint.host });
  const transport = connectCluster({ access, clock, logger, userAgent: userAgentOf(deps) });
  // Limit the rate, because after a restart care reads all Shoots of a seed at once, and other seeds may restart at the same time.
  const limiter = createRateLimiter({ ...limitsOf(flags), clock, meter, cluster: 'garden' });
  return { kube: limitedStack(transport, { clock, limiter }), close: () => transport.close() };
};

/** Replaces the seed's flag in a message by the garden's. */
const rethrowNamingGardenFlag = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replace('check --kubeconfig', 'check --garden-kubeconfig'));
};

/** Rate limits of care. It sends no urgent requests, but the limiter needs a limit of at least one. */
export const limitsOf = ({ qps, burst }: GardenDeps['flags']) => ({ qps, burst, urgentInFlight: 1 });
