import { expect, it } from 'vitest';
import { proberConfig } from '../../src/prober/config/config.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import { gardenletConfig } from '../../src/config/testing/texts.ts';

const options = { unknownFields: 'error' } as const;

it('the default configuration of the prober is that of gardenlet, except for the interval', () => {
  const [own, gardenlets] = [proberConfig.defaultText, gardenletConfig('prober')].map(
    (text) => proberConfig.load(text, options).settings,
  );
  expect(gardenlets).toMatchObject({ probeIntervalMs: 30_000, nodeMonitorGraceMs: 40_000 });
  expect(own).toEqual({ ...gardenlets, probeIntervalMs: 10_000 });
});

it('the default configuration of the weeder is that of gardenlet', () => {
  const [own, gardenlets] = [weederConfig.defaultText, gardenletConfig('weeder')].map(
    (text) => weederConfig.load(text, options).settings,
  );
  expect(gardenlets).toBeDefined();
  expect(own).toEqual(gardenlets);
});
