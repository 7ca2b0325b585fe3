import { type EndpointSliceView, decodeEndpointSlice, serviceNameLabel } from '../kubernetes/api/endpoint-slice.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type Informer, type WatchRegistry, createInformer, waitForSync } from '../kubernetes/cache/index.ts';
import type { Counter } from '../ports/meter.ts';
import {
  type ReadyCheck,
  type ComponentPorts,
  type ConfiguredComponent,
  WorkQueue,
  whenAborted,
} from '../process/index.ts';
import { WeederController, type WeederState } from './controller.ts';
import { createPodWatches } from './pod-watches.ts';
import type { WeederReport } from './report.ts';
import type { WeederSettings } from './settings.ts';

export interface ConfiguredWeederDeps extends ComponentPorts {
  readonly client: KubeClient;
  readonly report: WeederReport;
  /** Counts failed lists and watches of pods. */
  readonly errors: Counter;
  readonly registry: WatchRegistry;
  readonly dryRun: boolean;
  readonly concurrency: number;
}

/** The weeder of a seed under one configuration. It watches EndpointSlices and, while it leads, starts and ends weedings. */
export class ConfiguredWeeder implements ConfiguredComponent<WeederSettings, WeederState> {
  readonly settings: WeederSettings;
  readonly #deps: ConfiguredWeederDeps;
  readonly #slices: Informer<EndpointSliceView>;
  readonly #closing = new AbortController();
  #watch = Promise.resolve();

  constructor(settings: WeederSettings, deps: ConfiguredWeederDeps) {
    this.settings = settings;
    this.#deps = deps;
    const names = settings.services.map(({ name }) => name).toSorted();
    this.#slices = createInformer<EndpointSliceView>({
      ...deps,
      kube: deps.seed,
      path: '/apis/discovery.k8s.io/v1/endpointslices',
      query: { labelSelector: `${serviceNameLabel} in (${names.join()})` },
      project: decodeEndpointSlice,
    });
  }

  async sync(): Promise<void> {
    const { clock, logger } = this.#deps;
    const { signal } = this.#closing;
    this.#watch = this.#slices.run(signal);
    await waitForSync([this.#slices], { clock, logger, signal });
  }

  async work(before: WeederState | undefined, signal: AbortSignal): Promise<WeederState> {
    const { clock, report, logger, concurrency } = this.#deps;
    const slices = this.#slices;
    const queue = new WorkQueue<string>({
      clock,
      concurrency,
      reconcile: async (key) => controller.reconcile(key),
      onError: (key, error) => report.unexpectedError(key, error),
    });
    const watches = createPodWatches(this.#deps);
    const requeueAfter = (key: string, ms: number): void => queue.addAfter(key, ms);
    const deps = { ...this.#deps, settings: this.settings, slices, watches, requeueAfter };
    const controller: WeederController = new WeederController(deps, before);
    const unsubscribe = slices.subscribe((change) => {
      for (const key of controller.observe(change)) queue.add(key);
    });
    const keys = controller.keys();
    for (const key of keys) queue.add(key);
    logger.info('watching over services', { services: keys.length });
    await whenAborted(signal);
    unsubscribe();
    await queue.drain();
    await controller.stop();
    await watches.closed();
    return controller.state();
  }

  checks(): readonly ReadyCheck[] {
    const { problem } = this.#slices.state();
    const detail = problem === undefined ? {} : { detail: problem };
    return [{ name: 'endpoint-slices', ok: this.#slices.synced, ...detail }, ...podChecks(this.#deps.registry)];
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('this watch is no longer needed'));
    await this.#watch;
  }
}

/** Returns a check only while a watch of pods has a problem, because pods are watched only during weedings. */
const podChecks = ({ entries }: WatchRegistry): readonly ReadyCheck[] => {
  const [first, ...others] = Array.from(entries).flatMap(({ resource, problem }) =>
    resource === 'pods' ? (problem() ?? []) : [],
  );
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : `; and ${String(others.length)} more`;
  return [{ name: 'pods', ok: true, detail: `${first}${more}` }];
};
