import { expect, it } from 'vitest';
import { weederConfig } from '../weeder/config.ts';

const textOf = (value: string): string =>
  `servicesAndDependantSelectors: {etcd: {podSelectors: [{matchLabels: {a: ${value}}}]}}\n`;

/** What `yaml.Unmarshal` of sigs.k8s.io/yaml v1.6.0 makes of them in a map[string]string. */
it.each([
  ['true', 'true'],
  ['True', 'true'],
  ['yes', 'true'],
  ['Y', 'true'],
  ['ON', 'true'],
  ['no', 'false'],
  ['off', 'false'],
  ['yEs', 'yEs'],
  ['1', '1'],
  ['12345', '12345'],
  ['1.10', '1.1'],
  ['1.0', '1'],
  ['1.5', '1.5'],
  ['null', ''],
  ['~', ''],
  ['2001-01-01', '2001-01-01'],
  ['"yes"', 'yes'],
])('takes the label value %s for %j, as the Go program does', (value, expected) => {
  const { settings } = weederConfig.load(textOf(value), { unknownFields: 'warning' });
  expect(settings?.services[0]?.podSelectors[0]?.matchLabels).toEqual({ a: expected });
});

it.each(['1e6', '010', '0x10', '1234567.5', '123456.789', '{}'])(
  'refuses %s, of which Go makes something else',
  (value) => {
    expect(weederConfig.load(textOf(value), { unknownFields: 'warning' }).settings).toBeUndefined();
  },
);
