import { expect, it } from 'vitest';
import { gardenerConfigs, loadProberConfig, loadWeederConfig } from '../../src/config/index.ts';
import { gardenletConfig } from '../e2e/support/gardenlet.ts';

const options = { leftovers: 'error' } as const;

it('the configuration for the prober is that of gardenlet, but for its interval', () => {
  const [own, gardenlets] = [gardenerConfigs.prober, gardenletConfig('prober')].map(
    (text) => loadProberConfig(text, options).settings,
  );
  expect(gardenlets).toMatchObject({ probeIntervalMs: 30_000, nodeMonitorGraceMs: 40_000 });
  expect(own).toEqual({ ...gardenlets, probeIntervalMs: 10_000 });
});

it('the configuration for the weeder is that of gardenlet', () => {
  const [own, gardenlets] = [gardenerConfigs.weeder, gardenletConfig('weeder')].map(
    (text) => loadWeederConfig(text, options).settings,
  );
  expect(gardenlets).toBeDefined();
  expect(own).toEqual(gardenlets);
});
