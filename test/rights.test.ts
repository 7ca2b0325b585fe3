import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { neededByCare } from '../src/app/care-rights.ts';
import type { NeededRight } from '../src/app/check-rights.ts';
import { neededByWeeder } from '../src/app/weeder-rights.ts';
import { careRules, leaseRules, type PolicyRule, proberRules, weederRules } from '../src/cli/manifests/rights.ts';
import { gardenerConfigs, loadCareConfig, loadProberConfig } from '../src/config/index.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const settingsOf = <T>({ settings }: { readonly settings?: T }): T => settings ?? expect.unreachable('not valid');

const text = gardenerConfigs.prober;
const rules = proberRules(settingsOf(loadProberConfig(text, { leftovers: 'error' })));
const withScale = proberRules(
  settingsOf(
    loadProberConfig(text.replaceAll('kind: Deployment', 'kind: ReplicationController').replaceAll('apps/v1', 'v1'), {
      leftovers: 'warning',
    }),
  ),
);
const events = (rule: PolicyRule): boolean => rule.resources.includes('events');

/** The verbs of the one rule for `resource`, of that name where it is given. */
const verbsOf = (among: readonly PolicyRule[], resource: string, name?: string): readonly string[] => {
  const found = among.filter(
    ({ resources, resourceNames }) =>
      resources.includes(resource) && (name === undefined || resourceNames?.includes(name) === true),
  );
  expect(found, `rules for ${resource} ${name ?? ''}`).toHaveLength(1);
  return found[0]?.verbs ?? [];
};

/** As the documents name a resource: with its group where it is of a custom one. */
const rightsOf = (among: readonly PolicyRule[]): readonly string[] =>
  among.flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource}.${group} ${name}`)),
      ),
    ),
  );
const asked = (needed: readonly NeededRight[]): readonly string[] =>
  needed.map(({ right: { verb, group, resource, name = '' } }) => `${verb} ${resource}.${group} ${name}`);

describe('the rights that are granted', () => {
  const care = settingsOf(loadCareConfig('kubeConfigSecretName: access', { leftovers: 'error' }));
  const grants = [
    ['the weeder', rightsOf(weederRules.filter((rule) => !events(rule))), asked(neededByWeeder)],
    ['care', rightsOf(careRules(care)), asked(neededByCare(care))],
  ] as const;

  it.each(grants)('to %s are those that it asks for', (_, granted, needed) => {
    expect(granted.toSorted()).toEqual(needed.toSorted());
  });
});

describe('the rights in the documents are those that are granted', () => {
  const lease = 'dwd-prober-leader-election';
  const [create = [], others = []] = leaseRules(lease).map(({ verbs }) => verbs);

  it('README.md, of the prober', () => {
    const table =
      read('README.md').split('| where | what | verbs |\n')[1]?.split('\n\n')[0]?.split('\n').slice(1) ?? [];
    const documented = table.flatMap((line) => {
      const [, where = '', what = '', verbs = ''] = line.split('|').map((cell) => cell.trim());
      return where.startsWith('seed') ? [[what, verbs] as const] : [];
    });
    const verbs = (...of: Parameters<typeof verbsOf>): string => verbsOf(...of).join(', ');
    const expected: readonly (readonly [string, string])[] = [
      ['`clusters.extensions.gardener.cloud`', verbs(rules, 'clusters')],
      ['`secrets`', verbs(rules, 'secrets')],
      ['`machines.machine.sapcloud.io`', verbs(rules, 'machines')],
      ['the kinds that you configure', verbs(rules, 'deployments', 'kube-controller-manager')],
      ['`kube-apiserver`', verbs(rules, 'deployments', 'kube-apiserver')],
      ['`/scale`', verbs(withScale, 'replicationcontrollers/scale')],
      ['`events`', verbs(rules, 'events')],
      [`\`${lease}\``, `${create.join(', ')}; ${others.join(', ')}`],
    ];
    for (const [what, granted] of expected) {
      expect(
        documented.filter(([cell]) => cell.includes(what)).map(([, cell]) => cell),
        what,
      ).toEqual([granted]);
    }
    expect(documented.filter(([cell]) => expected.every(([what]) => !cell.includes(what)))).toEqual([]);
    expect(new Set(rules.flatMap(({ resources }) => resources))).toEqual(
      new Set(['clusters', 'secrets', 'machines', 'deployments', 'events']),
    );
  });

  it('docs/migrate.md, of the prober', () => {
    const yaml = /rights can be narrowed[^`]*```yaml\n(.*?)```/s.exec(read('docs/migrate.md'))?.[1] ?? '';
    expect(parse(yaml)).toEqual(rules.filter((rule) => !events(rule)));
  });

  it('docs/operating.md, of the weeder', () => {
    const quoted = (verbs: readonly string[]): string => verbs.map((verb) => `\`${verb}\``).join(', ');
    const told = read('docs/operating.md').split('It needs these rights in the seed: ')[1]?.split('\n\n')[0];
    const sentence = [
      `${quoted(verbsOf(weederRules, 'endpointslices'))} on \`endpointslices.discovery.k8s.io\``,
      `${quoted(verbsOf(weederRules, 'pods'))} on \`pods\``,
      `${quoted(verbsOf(weederRules, 'events'))} on \`events\` in the shoots' namespaces (without it they are left out)`,
      `and with leader election ${quoted(create)} on \`leases\` and ${quoted(others)} on \`dwd-weeder-leader-election\` in \`garden\`.`,
    ].join('; ');
    expect(told?.replaceAll('\n', ' ')).toBe(sentence);
    expect(weederRules).toHaveLength(3);
  });
});
