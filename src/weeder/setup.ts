import { type EndpointSliceView, decodeEndpointSlice, serviceNameLabel } from '../kubernetes/api/endpoint-slice.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import {
  type Informer,
  type WatchRegistry,
  createInformer,
  createWatchRegistry,
  untilFilled,
} from '../kubernetes/cache/index.ts';
import { createKubeClient, fenceWrites } from '../kubernetes/client/index.ts';
import type { Counter } from '../ports/meter.ts';
import {
  type Check,
  type Component,
  type ComponentOptions,
  type ComponentParts,
  type ComponentPorts,
  type Generation,
  type RunningComponent,
  WorkQueue,
  Reloadable,
  leaseNameOf,
  rightsOf,
  startParts,
  whenAborted,
} from '../process/index.ts';
import { createEventRecorder } from '../telemetry/index.ts';
import { WeederController, type WeederState } from './controller.ts';
import { createPodWatchErrors, createPodWatches } from './pod-watches.ts';
import { WeederReport } from './report.ts';
import { weederGrants } from './rights.ts';
import type { WeederSettings } from './settings.ts';

export type WeederOptions = ComponentOptions<WeederSettings>;

interface GenerationDeps extends ComponentPorts {
  readonly client: KubeClient;
  readonly report: WeederReport;
  readonly errors: Counter;
  readonly registry: WatchRegistry;
  readonly dryRun: boolean;
  readonly concurrency: number;
}

/** The weeder of a seed. When its configuration changes, weedings under way go on with the new selectors. */
const createWeeder = (options: WeederOptions): ComponentParts<WeederSettings> => {
  const { settings, ports, concurrency, dryRun = false } = options;
  const client = createKubeClient({ kube: fenceWrites(ports.seed, ports.leadership), clock: ports.clock });
  const events = createEventRecorder({ ...ports, client, component: 'dependency-watchdog-weeder' });
  const report = new WeederReport({ ...ports, events, dryRun });
  const errors = createPodWatchErrors(ports.meter);
  const registry = createWatchRegistry(ports.meter);
  const deps = { ...ports, client, report, errors, registry, dryRun, concurrency };
  return new Reloadable({
    name: 'weeder',
    settings,
    create: (wanted) => createGeneration(wanted, deps),
    stop: () => {
      report.stopped(ports.clock.monotonic());
      events.stop();
    },
    logger: ports.logger,
  });
};

const createGeneration = (settings: WeederSettings, deps: GenerationDeps): Generation<WeederSettings, WeederState> => {
  const { clock, random, logger, seed, registry } = deps;
  const names = settings.services.map(({ name }) => name).toSorted();
  const slices = createInformer<EndpointSliceView>({
    kube: seed,
    clock,
    random,
    logger,
    path: '/apis/discovery.k8s.io/v1/endpointslices',
    query: { labelSelector: `${serviceNameLabel} in (${names.join()})` },
    project: decodeEndpointSlice,
    registry,
  });
  const closing = new AbortController();
  let watch = Promise.resolve();
  return {
    settings,
    sync: async () => {
      watch = slices.run(closing.signal);
      await untilFilled([slices], { clock, logger, signal: closing.signal });
    },
    work: (memory, signal) => weed({ settings, slices, deps, memory }, signal),
    checks: () => {
      const { problem } = slices.state();
      const own = { name: 'endpoint-slices', ok: slices.synced, ...(problem === undefined ? {} : { detail: problem }) };
      return [own, ...podChecks(registry)];
    },
    close: async () => {
      closing.abort(new Error('this watch is no longer needed'));
      await watch;
    },
  };
};

/** Pods are watched while something is weeded; they are told of only where one of these watches is in trouble. */
const podChecks = ({ entries }: WatchRegistry): readonly Check[] => {
  const problems = Array.from(entries, ({ resource, problem }) => (resource === 'pods' ? problem() : undefined));
  const told = problems.filter((problem) => problem !== undefined);
  const [first, ...others] = told;
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : `; and ${String(others.length)} more`;
  return [{ name: 'pods', ok: true, detail: `${first}${more}` }];
};

interface WeedingParts {
  readonly settings: WeederSettings;
  readonly slices: Informer<EndpointSliceView>;
  readonly deps: GenerationDeps;
  readonly memory: WeederState | undefined;
}

const weed = async ({ settings, slices, deps, memory }: WeedingParts, signal: AbortSignal): Promise<WeederState> => {
  const { clock, report, logger } = deps;
  const queue = new WorkQueue<string>({
    clock,
    concurrency: deps.concurrency,
    reconcile: async (key) => controller.reconcile(key),
    onError: (key, error) => report.unexpectedError(key, error),
  });
  const watches = createPodWatches(deps);
  const controller: WeederController = new WeederController(
    { ...deps, settings, slices, watches, requeueAfter: (key, ms) => queue.addAfter(key, ms) },
    memory,
  );
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
};

/** Of weedings, so that a seed that recovers as a whole is not asked for everything at once. */
const inFlight = 20;

export const weederComponent: Component<WeederSettings> = {
  leaseName: leaseNameOf('weeder'),
  urgentInFlight: inFlight,
  neededRights: () => Promise.resolve(rightsOf(weederGrants)),
  create: (options) => createWeeder(options),
};

/** Runs the weeder without servers and leader election, for worlds in memory. */
export const startWeeder = (options: WeederOptions): RunningComponent<WeederSettings> =>
  startParts(createWeeder(options));
