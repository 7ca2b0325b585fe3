import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { formatProblem } from '../config/rules/problem.ts';
import { configCases, textOf } from '../config/testing/mistakes.ts';
import { gardenletConfig } from '../config/testing/texts.ts';
import { weederConfig } from './config.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

const cases = configCases(read('../config/fixtures/weeder.txt'));

const running = { unknownFields: 'warning' } as const;

const load = (text: string) => {
  const { settings, problems } = weederConfig.load(text, running);
  if (settings === undefined) throw new Error(problems.map((problem) => formatProblem('config', problem)).join('\n'));
  return { settings, problems };
};

const minimal = `servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchLabels: {role: apiserver}
`;

describe('weederConfig.load', () => {
  const term = (key: string, operator: string, ...values: readonly string[]) => ({ key, operator, values });

  it('reads the configuration that Gardener writes', () => {
    const controlPlane = term('gardener.cloud/role', 'In', 'controlplane');
    const selector = (role: ReturnType<typeof term>) => ({ matchLabels: {}, matchExpressions: [controlPlane, role] });
    expect(load(gardenletConfig('weeder'))).toEqual({
      settings: {
        watchDurationMs: 300_000,
        services: [
          { name: 'etcd-main-client', podSelectors: [selector(term('role', 'In', 'apiserver'))] },
          { name: 'kube-apiserver', podSelectors: [selector(term('role', 'NotIn', 'main', 'apiserver'))] },
        ],
      },
      problems: [],
    });
  });

  it('reads every operator', () => {
    const { settings } = load(textOf(cases, 'base'));
    expect(settings.services.map(({ name }) => name)).toEqual(['etcd-main-client', '1st-service']);
    expect(settings.services[0]?.podSelectors).toEqual([
      {
        matchLabels: { 'gardener.cloud/role': 'controlplane', empty: '' },
        matchExpressions: [
          term('role', 'In', 'apiserver', ''),
          term('role', 'NotIn', 'main'),
          term('app', 'Exists'),
          term('maintenance', 'DoesNotExist'),
        ],
      },
      { matchLabels: { app: '1' }, matchExpressions: [] },
    ]);
  });

  it('leaves the keys of its maps unchanged', () => {
    const { settings } = load(minimal.replace('role:', 'Role: a, ROLE: b, constructor: c, role:'));
    expect(settings.services[0]?.podSelectors[0]?.matchLabels).toEqual({
      Role: 'a',
      ROLE: 'b',
      constructor: 'c',
      role: 'apiserver',
    });
  });
});
