import { expect, it } from 'vitest';
import { createMeter } from './meter.ts';

const bare = () => createMeter({ processMetrics: false });

const samples = async (meter: { metricsText(): Promise<string> }): Promise<readonly string[]> =>
  (await meter.metricsText()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

it('reads all series of a gauge with `read` each time', async () => {
  const meter = createMeter({ processMetrics: false, defaultLabels: { dry_run: 'true' } });
  let series = [
    { labels: { a: 'x' }, value: 1 },
    { labels: { a: 'y' }, value: 2 },
    { labels: { a: 'y' }, value: 3 },
  ];
  meter.gauge({ name: 'dwd_g', help: '.', labels: ['a'], read: () => series });
  expect(await samples(meter)).toEqual(['dwd_g{a="x",dry_run="true"} 1', 'dwd_g{a="y",dry_run="true"} 3']);
  series = [{ labels: { a: 'z' }, value: 4 }];
  expect(await samples(meter)).toEqual(['dwd_g{a="z",dry_run="true"} 4']);
  series = [];
  expect(await samples(meter)).toEqual([]);
});

it('removes series by some of their labels', async () => {
  const meter = bare();
  const labels = ['namespace', 'result'];
  const metrics = {
    counter: meter.counter({ name: 'dwd_c_total', help: '.', labels }),
    gauge: meter.gauge({ name: 'dwd_g', help: '.', labels }),
    histogram: meter.histogram({ name: 'dwd_h', help: '.', labels, buckets: [2] }),
  };
  for (const namespace of ['a', 'b']) {
    for (const result of ['x', 'y']) {
      metrics.counter.inc({ namespace, result });
      metrics.gauge.set(1, { result, namespace });
      metrics.histogram.observe(1, { namespace, result });
    }
  }
  for (const metric of Object.values(metrics)) {
    metric.remove({ namespace: 'a' });
    metric.remove({ result: 'y' });
    metric.remove({ namespace: 'c' });
    metric.remove({ unknown: 'c' });
  }
  const left = await samples(meter);
  expect(left.filter((line) => /namespace="a"|result="y"/.test(line))).toEqual([]);
  expect(left.filter((line) => /^dwd_(c_total|g|h_count)\{.*\} 1$/.test(line))).toHaveLength(3);
  expect(left).toContain('dwd_h_bucket{le="2",namespace="b",result="x"} 1');
  for (const metric of Object.values(metrics)) metric.remove({});
  expect(await samples(meter)).toEqual([]);
  metrics.counter.inc({ namespace: 'a', result: 'x' }, 2);
  expect(await samples(meter)).toEqual(['dwd_c_total{namespace="a",result="x"} 2']);
});

it('rejects labels that are not exactly the declared ones', () => {
  const counter = bare().counter({ name: 'dwd_x_total', help: '.', labels: ['a', 'b'] });
  const message = (given: string) => `metric dwd_x_total: takes the labels (a, b), was given (${given})`;
  expect(() => counter.inc()).toThrow(message(''));
  expect(() => counter.inc({ a: '1' })).toThrow(message('a'));
  expect(() => counter.inc({ a: '1', b: '2', c: '3' })).toThrow(message('a, b, c'));
  expect(() => counter.inc({ a: '1', c: '3' })).toThrow(message('a, c'));
});

it('does not keep the label object of the caller', async () => {
  const meter = bare();
  const gauge = meter.gauge({ name: 'dwd_x', help: '.', labels: ['a'] });
  const labels = { a: '1' };
  gauge.set(1, labels);
  labels.a = '2';
  gauge.remove({ a: '1' });
  expect(await samples(meter)).toEqual([]);
});

it('reports metrics of the process, and has its own registry', async () => {
  const [one, other] = [createMeter(), createMeter()];
  one.gauge({ name: 'dwd_x', help: '.' }).set(1);
  const text = await one.metricsText();
  expect(text).toMatch(/^process_cpu_seconds_total /m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  expect(await other.metricsText()).not.toContain('dwd_x');
  // As `promtool check metrics` requires it.
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  expect(types.filter(([, name, type]) => name!.endsWith('_total') !== (type === 'counter'))).toEqual([]);
});
