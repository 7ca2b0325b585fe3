export type Labels = Readonly<Record<string, string>>;

export interface MetricDefinition {
  /** Full name, with the prefix `dwd_` and the unit. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface Counter {
  inc(labels?: Labels, by?: number): void;
  /** Removes the series whose labels include all of `labels`. */
  remove(labels: Labels): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
  remove(labels: Labels): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
  remove(labels: Labels): void;
}

export interface Sample {
  readonly value: number;
  readonly labels: Labels;
}

export interface GaugeDefinition extends MetricDefinition {
  /** Returns all series of the gauge; called at each scrape. If labels are equal, the last sample counts. Nobody calls `set` on such a gauge. */
  readonly read?: () => Iterable<Sample>;
}

/** Declares metrics. Declaring a name twice is an error. */
export interface Meter {
  counter(definition: MetricDefinition): Counter;
  gauge(definition: GaugeDefinition): Gauge;
  histogram(definition: MetricDefinition & { readonly buckets: readonly number[] }): Histogram;
}
