import { createProberReport, type ProberMemory } from '../controllers/prober/index.ts';
import { type DependentResource, type ProberSettings, refKey } from '../domain/index.ts';
import { createKubeClient, fenceWrites } from '../kube/index.ts';
import type { Clock, Kube, Leadership, Logger, Meter, Random, ShootConnector } from '../ports/index.ts';
import { type Check, type Runnable, whenAborted } from '../runtime/index.ts';
import { createEventRecorder } from '../telemetry/index.ts';
import { createGeneration, type Generation } from './generation.ts';

export interface ProberPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Transport to the seed, with all its policies. */
  readonly seed: Kube;
  readonly connector: ShootConnector;
  readonly leadership: Leadership;
}

export interface ProberOptions {
  readonly settings: ProberSettings;
  readonly ports: ProberPorts;
  /** Clusters reconciled at the same time. */
  readonly concurrency: number;
  readonly dryRun?: boolean;
}

/** The prober of a seed as parts of a program: the caches of a standby are filled too, its controller waits for its turn. */
export interface ProberParts {
  /** Waits for the seed's API server as long as it takes: a watchdog that crash-loops protects nobody. */
  readonly caches: Runnable;
  readonly controller: Runnable;
  checks(): readonly Check[];
  /**
   * Goes over to other settings once their caches are filled; lease memory and back-off of each shoot stay, and what was scaled down
   * under the former settings is still restored.
   */
  apply(settings: ProberSettings): void;
}

export const createProber = ({ settings, ports, concurrency, dryRun = false }: ProberOptions): ProberParts => {
  const { logger, leadership } = ports;
  const client = createKubeClient({ kube: fenceWrites(ports.seed, leadership), clock: ports.clock });
  const events = createEventRecorder({ ...ports, client, component: 'dependency-watchdog-prober' });
  const report = createProberReport({ ...ports, events, dryRun });
  const unserved = ports.meter.gauge({
    name: 'dwd_prober_dependent_unserved',
    help: '1 while the seed does not serve the kind of a dependent resource, or not its scale subresource.',
    labels: ['resource'],
  });
  const deps = { ...ports, client, report, unserved, dryRun, concurrency };
  let current = createGeneration(settings, deps);
  let next: Generation | undefined;
  /** Generations that were in force, to be closed when the controller has left them. */
  const former: Generation[] = [];
  /** Makes the controller go over to `current`; without one there is nothing to go over. */
  let goOver: (() => void) | undefined;

  const closeFormer = async (): Promise<void> => {
    await Promise.all(former.splice(0).map((generation) => generation.close()));
  };

  const apply = async (wanted: ProberSettings): Promise<void> => {
    const created = createGeneration(keepDropped(wanted, current.settings), deps);
    const overtaken = next;
    next = created;
    await overtaken?.close();
    try {
      await created.sync();
    } catch (error) {
      if (next === created) throw error;
    }
    if (next !== created) return;
    former.push(current);
    current = created;
    next = undefined;
    if (goOver === undefined) await closeFormer();
    else goOver();
    logger.info('the new configuration is in force');
  };

  const runCaches = async (signal: AbortSignal, ready: () => void): Promise<void> => {
    const aborted = whenAborted(signal);
    const synced = current.sync().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    await Promise.race([synced, aborted]);
    if (!signal.aborted) ready();
    await aborted;
    const pending = next;
    next = undefined;
    events.stop();
    await Promise.all([current.close(), pending?.close(), closeFormer()]);
  };

  const runController = async (signal: AbortSignal, ready: () => void): Promise<void> => {
    ready();
    let memories: ReadonlyMap<string, ProberMemory> = new Map();
    while (!signal.aborted) {
      const generation = current;
      const stop = new AbortController();
      const changed = new Promise<void>((resolve) => {
        goOver = resolve;
      });
      const probing = generation.probe(memories, stop.signal);
      await Promise.race([changed, whenAborted(signal)]);
      memories = probing.memories();
      stop.abort();
      await probing.ended;
      await closeFormer();
    }
    goOver = undefined;
  };

  return {
    caches: { name: 'caches', run: runCaches },
    controller: { name: 'prober', run: runController },
    checks: () => current.checks(),
    apply: (wanted) => {
      apply(wanted).catch((error: unknown) => logger.error('the new configuration could not be applied', { error }));
    },
  };
};

/** Of what the former settings name and the new ones do not, all that is held down, or is about to be, still has to be restored. */
const keepDropped = (wanted: ProberSettings, former: ProberSettings): ProberSettings => {
  const named = new Set(wanted.dependentResources.map(({ ref }) => refKey(ref)));
  const dropped = former.dependentResources
    .filter(({ ref }) => !named.has(refKey(ref)))
    .map(({ ref, scaleUp }): DependentResource => ({ ref, scaleUp, optional: true, onlyWhereHeld: true }));
  return { ...wanted, dependentResources: [...wanted.dependentResources, ...dropped] };
};

export interface RunningComponent {
  checks(): readonly Check[];
  apply(settings: ProberSettings): void;
  /** Lets writes under way finish, sends nothing new, ends all watches. */
  stop(): Promise<void>;
}

/** Runs all parts at once, for worlds in memory: no servers, no leader election. */
export const startProber = (options: ProberOptions): RunningComponent => {
  const { caches, controller, ...parts } = createProber(options);
  const stopControllers = new AbortController();
  const stopCaches = new AbortController();
  let controllers = Promise.resolve();
  const running = caches.run(stopCaches.signal, () => {
    controllers = controller.run(stopControllers.signal, () => undefined);
  });
  return {
    checks: () => parts.checks(),
    apply: (settings) => parts.apply(settings),
    stop: async () => {
      stopControllers.abort();
      await controllers;
      stopCaches.abort();
      await running;
    },
  };
};
