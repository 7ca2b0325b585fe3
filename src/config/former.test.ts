import { expect, it } from 'vitest';
import { proberConfig } from '../prober/config/config.ts';
import { minimal } from './testing/texts.ts';

it('a former field is a warning where the present fields are there too, as for the Go program', () => {
  const both = `internalKubeConfigSecretName: dws-internal-probe-secret\n${minimal}kcmNodeMonitorGraceDuration: 40s\n`;
  const { settings, problems } = proberConfig.load(both, { unknownFields: 'warning' });
  expect(settings?.dependentResources).toHaveLength(1);
  expect(problems).toMatchObject([{ path: 'internalKubeConfigSecretName', severity: 'warning' }]);
});
