import { expect, it } from 'vitest';
import { weederConfig } from '../weeder/config.ts';

const textOf = (value: string): string =>
  `servicesAndDependantSelectors: {etcd: {podSelectors: [{matchLabels: {a: ${value}}}]}}\n`;

/** The expected values are those of `yaml.Unmarshal` of sigs.k8s.io/yaml v1.6.0 into a map[string]string. */
it.each([
  ['true', 'true'],
  ['yes', 'true'],
  ['ON', 'true'],
  ['no', 'false'],
  ['yEs', 'yEs'],
  ['1', '1'],
  ['1.10', '1.1'],
  ['1.5', '1.5'],
  ['null', ''],
  ['~', ''],
  ['2001-01-01', '2001-01-01'],
  ['"yes"', 'yes'],
])('reads the label value %s as %j, like the Go program', (value, expected) => {
  const { settings } = weederConfig.load(textOf(value), { unknownFields: 'warning' });
  expect(settings?.services[0]?.podSelectors[0]?.matchLabels).toEqual({ a: expected });
});

it.each(['1e6', '010', '0x10', '1234567.5', '123456.789', '{}'])(
  'refuses %s, which Go converts to another text',
  (value) => {
    expect(weederConfig.load(textOf(value), { unknownFields: 'warning' }).settings).toBeUndefined();
  },
);
