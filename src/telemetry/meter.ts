import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Labels, Meter, MetricDefinition } from '../ports/meter.ts';

export interface MeterOptions {
  /** True if CPU, memory, event loop and garbage collection of this process are measured. Default: true. False if several programs share a process. */
  readonly processMetrics?: boolean;
  /** Labels of every series, such as `dry_run: "true"`. */
  readonly defaultLabels?: Labels;
}

export interface PrometheusMeter extends Meter {
  /** Yields all metrics in Prometheus' text format, one metric at a time. */
  metricsTexts(): AsyncIterable<string>;
  /** Returns them as one text. */
  metricsText(): Promise<string>;
  /** `Content-Type` of that text. */
  readonly contentType: string;
}

interface Series {
  /** Returns the same labels. Throws if they are not exactly the declared ones. */
  known(labels: Labels): Labels;
  /** Forgets and returns the series whose labels include all of `labels`. */
  take(labels: Labels): readonly Labels[];
}

/** Tracks the label sets in use, because prom-client removes a series only by all of its labels. */
const createSeries = ({ name, labels: declared = [] }: MetricDefinition): Series => {
  const inUse = new Map<string, Labels>();
  return {
    known(labels) {
      const values = declared.map((label) => labels[label]);
      if (values.includes(undefined) || Object.keys(labels).length !== declared.length) {
        const given = Object.keys(labels).join(', ');
        throw new Error(`metric ${name}: takes the labels (${declared.join(', ')}), was given (${given})`);
      }
      const id = JSON.stringify(values);
      const known = inUse.get(id);
      if (known !== undefined) return known;
      inUse.set(id, { ...labels });
      return labels;
    },
    take(wanted) {
      const taken = [...inUse].filter(([, labels]) =>
        Object.entries(wanted).every(([label, value]) => labels[label] === value),
      );
      for (const [id] of taken) inUse.delete(id);
      return taken.map(([, labels]) => labels);
    },
  };
};

/** Gauges of the library that are named like counters. They are only sums, such as that of `nodejs_active_handles` over all types. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/**
 * Interval at which the lag of the event loop is sampled; the percentiles of `nodejs_eventloop_lag` include it. The library's default of 10 ms wakes an
 * idle process a hundred times a second, which costs more CPU than the probes of one shoot.
 */
const eventLoopSampleMs = 100;

async function* textsOf(registry: Registry): AsyncGenerator<string> {
  for (const { name } of registry.getMetricsAsArray()) yield `${await registry.getSingleMetricAsString(name)}\n`;
}

const textOf = async (registry: Registry): Promise<string> => {
  let text = '';
  for await (const one of textsOf(registry)) text += one;
  return text;
};

/** Creates a meter on prom-client with its own registry, which throws if a metric is declared twice. */
export const createMeter = ({ processMetrics = true, defaultLabels = {} }: MeterOptions = {}): PrometheusMeter => {
  const registry = new Registry();
  registry.setDefaultLabels(defaultLabels);
  if (processMetrics) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
    for (const name of misnamed) registry.removeSingleMetric(name);
  }

  const declare = (definition: MetricDefinition) => {
    const { name, help, labels = [] } = definition;
    const configuration = { name, help, labelNames: [...labels], registers: [registry] };
    return { configuration, series: createSeries(definition) };
  };

  return {
    counter(definition) {
      const { configuration, series } = declare(definition);
      const metric = new Counter(configuration);
      return {
        inc: (labels = {}, by = 1) => metric.inc(series.known(labels), by),
        remove: (labels) => series.take(labels).forEach((taken) => metric.remove(taken)),
      };
    },
    gauge(definition) {
      const { configuration, series } = declare(definition);
      const { read } = definition;
      const collect = (): void => {
        metric.reset();
        for (const { value, labels } of read?.() ?? []) metric.set({ ...labels }, value);
      };
      const metric = new Gauge({ ...configuration, collect: read && collect });
      return {
        set: (value, labels = {}) => metric.set(series.known(labels), value),
        remove: (labels) => series.take(labels).forEach((taken) => metric.remove(taken)),
      };
    },
    histogram(definition) {
      const { configuration, series } = declare(definition);
      const metric = new Histogram({ ...configuration, buckets: [...definition.buckets] });
      return {
        observe: (value, labels = {}) => metric.observe(series.known(labels), value),
        remove: (labels) => series.take(labels).forEach((taken) => metric.remove(taken)),
      };
    },
    metricsTexts: () => textsOf(registry),
    metricsText: () => textOf(registry),
    contentType: registry.contentType,
  };
};
