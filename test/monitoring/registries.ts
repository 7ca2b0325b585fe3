import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { careComponent } from '../../src/care/component.ts';
import { careConfig } from '../../src/care/index.ts';
import type { ComponentConfig } from '../../src/config/component-config.ts';
import { createHealthCheckMetrics } from '../../src/healthcheck/report.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { createRateLimiter } from '../../src/kubernetes/client/index.ts';
import type { Meter, MetricDefinition } from '../../src/ports/meter.ts';
import { type Component, runComponent, systemClock } from '../../src/process/index.ts';
import { proberComponent, proberConfig } from '../../src/prober/index.ts';
import { createMeter, createProgramMetrics } from '../../src/telemetry/index.ts';
import { weederComponent, weederConfig } from '../../src/weeder/index.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';
import { root } from '../documents/markdown.ts';

export interface DeclaredMetric extends MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
}

export interface Registry {
  readonly metrics: readonly DeclaredMetric[];
  /** Text of a scrape with one series of each metric. */
  readonly text: string;
}

/** Creates a meter that collects all declared metrics and creates one series of each. */
const listening = (): { readonly meter: Meter; readonly registry: () => Promise<Registry> } => {
  const meter = createMeter({ processMetrics: false });
  const metrics: DeclaredMetric[] = [];
  const enter = (type: DeclaredMetric['type'], definition: MetricDefinition) => {
    metrics.push({ ...definition, type });
    return Object.fromEntries((definition.labels ?? []).map((label) => [label, 'x']));
  };
  return {
    meter: {
      counter: (definition) => {
        const labels = enter('counter', definition);
        const counter = meter.counter(definition);
        counter.inc(labels);
        return counter;
      },
      gauge: ({ read: _, ...definition }) => {
        const labels = enter('gauge', definition);
        const gauge = meter.gauge(definition);
        gauge.set(1, labels);
        return gauge;
      },
      histogram: (definition) => {
        const labels = enter('histogram', definition);
        const histogram = meter.histogram(definition);
        histogram.observe(1, labels);
        return histogram;
      },
    },
    registry: async () => ({ metrics, text: await meter.metricsText() }),
  };
};

interface Started<Settings> {
  readonly name: string;
  readonly component: Component<Settings>;
  readonly config: ComponentConfig<Settings>;
}

const flags = {
  qps: 5,
  burst: 10,
  leaderElection: {
    enabled: true,
    namespace: 'garden',
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  },
  dryRun: false,
};

/** Starts the component as `dwd NAME` does, and stops it before its first request. */
const registryOf = async <Settings>({ name, component, config }: Started<Settings>): Promise<Registry> => {
  const { meter, registry } = listening();
  const directory = mkdtempSync(join(tmpdir(), 'dwd-registries-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const cluster = '{name: a, cluster: {server: "https://127.0.0.1:1"}}';
  const context = '{name: a, context: {cluster: a, user: a}}';
  writeFileSync(
    kubeconfig,
    `{current-context: a, clusters: [${cluster}], contexts: [${context}], users: [{name: a, user: {token: t}}]}`,
  );
  const load = (text: string) => config.load(text, { unknownFields: 'error' });
  const { settings } = load(readFileSync(`${root}examples/${name}-config.yaml`, 'utf8'));
  if (settings === undefined) throw new Error(`the example of the ${name} is not valid`);
  createProgramMetrics(meter, { component: name, version: 'v', isDryRun: false });
  try {
    await runComponent(component, {
      settings,
      flags: { ...flags, kubeconfig },
      configFile: '',
      readFile: async () => '',
      load,
      configWarnings: 0,
      env: {},
      logger: createRecordingLogger(),
      meter: { ...createMeter({ processMetrics: false }), ...meter },
      version: 'v',
      stop: AbortSignal.abort(new Error('all is declared')),
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
  return registry();
};

/** The garden, to which care would write conditions. It must receive no request. */
const garden: Kube = { request: () => Promise.reject(new Error('nothing is asked')) };

/** Metrics that each component declares at its start. */
export const registries = async (): Promise<Readonly<Record<string, Registry>>> => {
  const clock = systemClock();
  const library = listening();
  createHealthCheckMetrics(library.meter);
  const care = careComponent({ garden, takeOver: false, clock });
  const careRegistry = await registryOf({ name: 'care', component: care, config: careConfig });
  const limiter = listening();
  createRateLimiter({ qps: 1, burst: 1, urgentInFlight: 1, clock, meter: limiter.meter, cluster: 'garden' });
  const { metrics, text } = await limiter.registry();
  return {
    prober: await registryOf({ name: 'prober', component: proberComponent({ standby: 'hot' }), config: proberConfig }),
    weeder: await registryOf({ name: 'weeder', component: weederComponent, config: weederConfig }),
    // Care creates the garden's rate limiter when it connects to the garden, before it starts.
    care: { metrics: [...careRegistry.metrics, ...metrics], text: careRegistry.text + text },
    healthcheck: await library.registry(),
  };
};
