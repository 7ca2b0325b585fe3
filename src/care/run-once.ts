import { type Result, errorText } from '../kubernetes/api/errors.ts';
import { createWatchRegistry, waitForSync } from '../kubernetes/cache/index.ts';
import { createKubeClient, createRateLimiter, limitedStack } from '../kubernetes/client/index.ts';
import {
  createKubeconfigCache,
  createShootConnector,
  createTunnelConnector,
  withShootPolicy,
  withTunnelPolicy,
} from '../kubernetes/connection/index.ts';
import type { Transport } from '../kubernetes/transport/index.ts';
import { connectSeed, systemClock, systemRandom, userAgentOf } from '../process/index.ts';
import { untilWatched } from './configured-care.ts';
import { CareController } from './controller.ts';
import { connectGarden, limitsOf } from './garden.ts';
import { CareReport, type ShootResult } from './report.ts';
import type { CareProcessDeps } from './run-care.ts';
import { type CareSourceDeps, type CareWatches, createCareWatches } from './sources.ts';

/** One result per shoot, in the order of their control-plane namespaces. */
export type CareResults = readonly ShootResult[];

export interface CareOnceDeps extends Omit<CareProcessDeps, 'configFile' | 'readFile' | 'load' | 'configWarnings'> {
  /** Control-plane namespace of the only shoot to check. */
  readonly namespace?: string | undefined;
}

/** Timeout of the list of shoots, in milliseconds. */
const syncTimeoutMs = 30_000;

/** Checks every shoot once. The error of the result explains why that is not possible. Rejects with a KubeconfigError. */
export const runCareOnce = async (deps: CareOnceDeps): Promise<Result<CareResults, string>> => {
  const clock = systemClock();
  const { flags, logger, meter, settings, stop } = deps;
  const transport = await connectSeed(deps, { clock, userAgent: userAgentOf(deps) });
  const limiter = createRateLimiter({ ...limitsOf(flags), clock, meter });
  const seed = limitedStack(transport, { clock, limiter });
  const random = systemRandom();
  const garden = await connectGarden(deps, clock).catch((error: unknown) => closeAnd(transport, error));
  const registry = createWatchRegistry(meter);
  const sourceDeps = { clock, random, logger, seed, garden: garden?.kube, registry };
  const watches = createCareWatches(settings, sourceDeps);
  const connecting = { clock, random, userAgent: userAgentOf(deps), known: createKubeconfigCache(deps) };
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
    closing.abort(new Error('all shoots have been checked'));
    await watching;
    transport.close();
    garden?.close();
  }
};

const closeAnd = (transport: Transport, error: unknown): never => {
  transport.close();
  throw error;
};

/** Waits until all objects are listed. Resolves with an error if that is not possible. */
const fill = async (watches: CareWatches, deps: CareSourceDeps, signal: AbortSignal): Promise<string | undefined> => {
  try {
    await waitForSync(watches.required, { clock: deps.clock, timeoutMs: syncTimeoutMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    return errorText(error);
  }
  await untilWatched(watches, deps, signal);
  return undefined;
};

const checkAll = async (
  controller: CareController,
  { settings, namespace, stop }: CareOnceDeps,
): Promise<Result<CareResults, string>> => {
  const known = controller.namespaces();
  if (namespace !== undefined && !known.includes(namespace)) {
    return { ok: false, error: `there is no Cluster ${namespace} in this seed` };
  }
  const names = namespace === undefined ? known : [namespace];
  const results = new Map<string, ShootResult>();
  const queue = names.values();
  // All workers take names from the same iterator.
  const work = async (): Promise<void> => {
    for (const name of queue) {
      const result = await controller.check(name, stop);
      if (result !== undefined) results.set(name, result);
    }
  };
  await Promise.all(Array.from({ length: settings.concurrentSyncs }, work));
  return { ok: true, value: names.flatMap((name) => results.get(name) ?? []) };
};
