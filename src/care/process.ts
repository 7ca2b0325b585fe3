import { homedir } from 'node:os';
import { KubeconfigError, type Result } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { createWatchRegistry, waitForSync } from '../kubernetes/cache/index.ts';
import {
  type Transport,
  createKubeClient,
  createRateLimiter,
  fanOut,
  retryThrottled,
  withRateLimit,
} from '../kubernetes/client/index.ts';
import {
  connectCluster,
  createKnownShoots,
  createShootConnector,
  createTunnelConnector,
  withShootPolicy,
  withTunnelPolicy,
} from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type ProcessDeps,
  connectSeed,
  runComponent,
  systemClock,
  systemRandom,
  userAgentOf,
} from '../process/index.ts';
import { CareController } from './controller.ts';
import { untilWatched } from './generation.ts';
import { CareReport, type ShootResult } from './report.ts';
import type { CareSettings } from './settings.ts';
import { careComponent } from './setup.ts';
import { type CareSourceDeps, type CareWatches, createCareWatches } from './sources.ts';

export interface GardenOptions {
  /** Path of a kubeconfig; absent: nothing is written. */
  readonly gardenKubeconfig?: string | undefined;
  /** Writes conditions that somebody else writes, too. */
  readonly takeOver: boolean;
}

export interface CareProcessDeps extends ProcessDeps<CareSettings>, GardenOptions {}

interface Garden {
  readonly kube: Kube;
  readonly close: () => void;
}

type GardenDeps = GardenOptions & Pick<CareProcessDeps, 'env' | 'flags' | 'logger' | 'meter' | 'version'>;

const connectGarden = async (deps: GardenDeps, clock: Clock): Promise<Garden | undefined> => {
  const { gardenKubeconfig: path, env, flags, logger, meter } = deps;
  if (path === undefined) return undefined;
  const access = await loadOperatorKubeconfig({ path, env, homedir, clock }).catch(blameGarden);
  logger.info('garden', { source: `--garden-kubeconfig ${path}`, host: access.endpoint.host });
  const transport = connectCluster({ access, clock, logger, userAgent: userAgentOf(deps) });
  // All shoots of a seed want theirs at once after a restart, and so may other seeds.
  const limiter = createRateLimiter({ ...limitsOf(flags), clock, meter, cluster: 'garden' });
  return { kube: retryThrottled(withRateLimit(transport, limiter, clock), clock), close: () => transport.close() };
};

/** The messages are for the seed's. */
const blameGarden = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replace('check --kubeconfig', 'check --garden-kubeconfig'));
};

/** Nothing that care does is urgent. */
const limitsOf = ({ qps, burst }: GardenDeps['flags']) => ({ qps, burst, urgentInFlight: 1 });

/** `dwd care` as a process; resolves with its exit code. */
export const runCareProcess = async (deps: CareProcessDeps): Promise<number> => {
  const clock = systemClock();
  const garden = await connectGarden(deps, clock);
  try {
    return await runComponent(careComponent({ garden: garden?.kube, takeOver: deps.takeOver, clock }), deps);
  } finally {
    garden?.close();
  }
};

/** How every shoot is, in the order of their namespaces. */
export type CareRound = readonly ShootResult[];

export interface CareRoundDeps extends Omit<CareProcessDeps, 'configFile' | 'readFile' | 'load' | 'configWarnings'> {
  /** Control-plane namespace of the only shoot to be checked. */
  readonly namespace?: string | undefined;
}

/** Longest time until it is known which shoots there are. */
const roundSyncMs = 30_000;

/** One check of every shoot, or why there is none. Rejects with a KubeconfigError. */
export const runCareRound = async (deps: CareRoundDeps): Promise<Result<CareRound, string>> => {
  const clock = systemClock();
  const { flags, logger, meter, settings, stop } = deps;
  const transport = await connectSeed(deps, { clock, userAgent: userAgentOf(deps) });
  const limiter = createRateLimiter({ ...limitsOf(flags), clock, meter });
  const seed = retryThrottled(withRateLimit(transport, limiter, clock), clock);
  const random = systemRandom();
  const garden = await connectGarden(deps, clock).catch((error: unknown) => closeAnd(transport, error));
  const registry = createWatchRegistry(meter);
  const sourceDeps = { clock, random, logger, seed, garden: garden?.kube, registry };
  const watches = createCareWatches(settings, sourceDeps);
  const connecting = { clock, random, userAgent: userAgentOf(deps), known: createKnownShoots() };
  const controller = new CareController({
    ...sourceDeps,
    settings,
    sources: watches.sources,
    connector: withShootPolicy(createShootConnector(connecting), settings),
    tunnels: withTunnelPolicy(createTunnelConnector(connecting), settings),
    garden: garden && createKubeClient({ kube: garden.kube, clock }),
    report: new CareReport({ logger, meter }),
    takeOver: deps.takeOver,
    dryRun: flags.dryRun,
    requeueAfter: () => undefined,
  });
  const closing = new AbortController();
  const watching = watches.run(closing.signal);
  try {
    const problem = await fill(watches, sourceDeps, stop);
    return problem === undefined ? await checkAll(controller, deps) : { ok: false, error: problem };
  } catch (error) {
    if (stop.aborted) return { ok: false, error: 'stopped before all shoots were checked' };
    throw error;
  } finally {
    controller.stop();
    closing.abort(new Error('the round is over'));
    await watching;
    transport.close();
    garden?.close();
  }
};

const closeAnd = (transport: Transport, error: unknown): never => {
  transport.close();
  throw error;
};

/** Until all is known; why that is not possible otherwise. */
const fill = async (watches: CareWatches, deps: CareSourceDeps, signal: AbortSignal): Promise<string | undefined> => {
  try {
    await waitForSync(watches.vital, { clock: deps.clock, timeoutMs: roundSyncMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  }
  await untilWatched(watches, deps, signal);
  return undefined;
};

const checkAll = async (
  controller: CareController,
  { settings, namespace, stop }: CareRoundDeps,
): Promise<Result<CareRound, string>> => {
  const known = controller.namespaces();
  if (namespace !== undefined && !known.includes(namespace)) {
    return { ok: false, error: `there is no Cluster ${namespace} in this seed` };
  }
  const names = namespace === undefined ? known : [namespace];
  const cares = new Map<string, ShootResult>();
  const queue = names.values();
  const until = fanOut(stop);
  // All workers take from the same iterator.
  const work = async (): Promise<void> => {
    for (const name of queue) {
      const care = await until((end) => controller.check(name, end));
      if (care !== undefined) cares.set(name, care);
    }
  };
  await Promise.all(Array.from({ length: settings.concurrentSyncs }, work));
  return { ok: true, value: names.flatMap((name) => cares.get(name) ?? []) };
};
