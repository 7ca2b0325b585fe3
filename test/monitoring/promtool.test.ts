import { expect, it } from 'vitest';
import { createMeter } from '../../src/telemetry/index.ts';
import { describePromtool, promtool } from './promtool.ts';
import { registries } from './registries.ts';

describePromtool('promtool', () => {
  it.each(['prober', 'weeder', 'care', 'healthcheck'])('promtool accepts the metrics of %s', async (name) => {
    const { text = '' } = (await registries())[name] ?? {};
    expect(promtool(['check', 'metrics'], { input: text })).toEqual({ status: 0, output: '' });
  });

  it('promtool accepts the metrics of Node', async () => {
    expect(promtool(['check', 'metrics'], { input: await createMeter().metricsText() })).toEqual({
      status: 0,
      output: '',
    });
  });
});
