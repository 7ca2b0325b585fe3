import type { Labels, Meter, MetricDefinition, Sample } from '../../src/ports/meter.ts';

export interface RecordingMeter extends Meter {
  /**
   * Value of the series with exactly these labels: the sum of a counter, the latest value of a gauge, or the number of observations of a
   * histogram. Undefined if the series does not exist or was removed.
   */
  value(name: string, labels?: Labels): number | undefined;
}

const idOf = (labels: Labels): string => JSON.stringify(Object.entries(labels).sort());

export const createRecordingMeter = (): RecordingMeter => {
  const metrics = new Map<string, Map<string, Sample>>();
  const reads = new Map<string, () => Iterable<Sample>>();

  const declare = ({ name }: MetricDefinition) => {
    const series = new Map<string, Sample>();
    metrics.set(name, series);
    return {
      add: (labels: Labels, by: number): void => {
        const id = idOf(labels);
        series.set(id, { labels, value: (series.get(id)?.value ?? 0) + by });
      },
      set: (labels: Labels, value: number): void => void series.set(idOf(labels), { labels, value }),
      remove: (wanted: Labels): void => {
        for (const [id, { labels }] of series) {
          if (Object.entries(wanted).every(([label, value]) => labels[label] === value)) series.delete(id);
        }
      },
    };
  };

  return {
    counter: (definition) => {
      const { add, remove } = declare(definition);
      return { inc: (labels = {}, by = 1) => add(labels, by), remove };
    },
    gauge: (definition) => {
      const { set, remove } = declare(definition);
      if (definition.read !== undefined) reads.set(definition.name, definition.read);
      return { set: (value, labels = {}) => set(labels, value), remove };
    },
    histogram: (definition) => {
      const { add, remove } = declare(definition);
      return { observe: (_value, labels = {}) => add(labels, 1), remove };
    },
    value: (name, labels = {}) => {
      const samples = [...(reads.get(name)?.() ?? metrics.get(name)?.values() ?? [])];
      return samples.findLast((sample) => idOf(sample.labels) === idOf(labels))?.value;
    },
  };
};
