import { createProberReport, type ProberMemory } from '../controllers/prober/index.ts';
import type { ProberSettings } from '../domain/index.ts';
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
  const deps = { ...ports, client, report, dryRun, concurrency };
  let current = createGeneration(settings, deps);
  let next: Generation | undefined;
  /** Makes the controller go over to `current`; without one there is nothing to go over. */
  let goOver: (() => void) | undefined;

  const apply = async (wanted: ProberSettings): Promise<void> => {
    const dependentResources = [...wanted.dependentResources, ...current.droppedYetHeld(wanted)];
    const created = createGeneration({ ...wanted, dependentResources }, deps);
    const overtaken = next;
    next = created;
    await overtaken?.close();
    try {
      await created.sync();
    } catch (error) {
      if (next === created) throw error;
    }
    if (next !== created) return;
    const former = current;
    current = created;
    next = undefined;
    if (goOver === undefined) await former.close();
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
    await Promise.all([current.close(), pending?.close()]);
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
      if (generation !== current) await generation.close();
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
