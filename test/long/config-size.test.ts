import { describe, expect, it } from 'vitest';
import { proberConfig } from '../../src/prober/config/config.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import { hasErrors } from '../../src/config/rules/problem.ts';

const limit = 256 * 1024;
const running = { unknownFields: 'warning' } as const;

/** Returns as many lines as fit into the largest accepted file. */
const fill = (first: string, line: (index: number) => string, last = ''): string => {
  const lines = [first];
  let size = first.length;
  for (let index = 0; size < limit - 100; index += 1) {
    const next = line(index);
    lines.push(next);
    size += next.length;
  }
  return lines.join('') + last;
};

/** Each text took minutes to hours when one step of the reader took time linear in the file. A reader that is linear overall takes a fraction of a second. */
const texts: Readonly<Record<string, string>> = {
  'merges of one anchor': fill('a: &a {x: 1}\nb:\n', () => '- {<<: *a, y: 2}\n'),
  'merges in a chain': fill('', (n) => `a${n}: &a${n} {<<: *a${n - 1}, k${n}: 1}\n`),
  'a merge of many maps': fill('a: &a {x: 1}\nb: {<<: [', () => '*a, ', ']}'),
  'anchors and aliases': fill('', (n) => `a${n}: &a${n} 1\nb${n}: *a${n}\n`),
  'aliases of nothing': fill('', (n) => `a${n}: *a${n}\n`),
  'unknown fields': fill('', (n) => `field${n}: 1\n`),
  'unknown fields of items': fill('dependentResourceInfos:\n', (n) => `- {field${n}: 1}\n`),
  'a key given twice, again and again': fill('', () => 'a: 1\n'),
  'items with a key given twice': fill('', () => '- {a: 1, a: 2}\n'),
  resources: fill(
    'dependentResourceInfos:\n',
    (n) => `- {ref: {apiVersion: apps/v1, kind: Deployment, name: d${n}}, optional: no, scaleUp: {}}\n`,
  ),
  services: fill('servicesAndDependantSelectors:\n', (n) => `  s${n}: {podSelectors: [{matchLabels: {a: yes}}]}\n`),
  labels: fill(
    'servicesAndDependantSelectors:\n  a:\n    podSelectors:\n    - matchLabels:\n',
    (n) => `        l${n}: yes\n`,
  ),
  'a ConfigMap of many keys': fill('kind: ConfigMap\ndata:\n', (n) => `  key${n}: |\n    probeInterval: 10s\n`),
  'keys of keys': fill('', () => '? '),
  'lists in lists': fill('', () => '- '),
  brackets: fill('', () => '['),
  'maps in maps': fill('', () => '{a: '),
  'a key without an end': fill('', () => 'a:\n '),
  commas: fill('[', () => ','),
  documents: fill('', () => '---\n'),
};

/** A time limit in milliseconds that only a hang exceeds. */
const unhurried = { timeout: 120_000 };

describe('a file of 256 KiB', () => {
  it.each(Object.keys(texts))('of %s is read to its end', unhurried, (name) => {
    const text = texts[name] ?? '';
    expect(text.length).toBeGreaterThan(limit - 200);
    expect(text.length).toBeLessThanOrEqual(limit);
    expect(hasErrors(proberConfig.check(text)) || hasErrors(weederConfig.check(text))).toBe(true);
  });

  it.each(['merges of one anchor', 'merges in a chain', 'a merge of many maps', 'anchors and aliases'])(
    'of %s is refused for its aliases, at start and on reload',
    unhurried,
    (name) => {
      const text = texts[name] ?? '';
      const message = 'there are more than 100 aliases and merges up to here; write out what they stand for';
      for (const load of [proberConfig.load, weederConfig.load]) {
        const { settings, problems } = load(text, running);
        expect(settings).toBeUndefined();
        expect(problems.filter((problem) => problem.message === message)).toHaveLength(1);
      }
    },
  );

  it('may have 99 aliases', () => {
    const text = 'kubeConfigSecretName: probe\nx: &up {level: 0}\ndependentResourceInfos:\n';
    const resources = Array.from(
      { length: 99 },
      (_, n) => `- {ref: {apiVersion: apps/v1, kind: Deployment, name: d${n}}, scaleUp: *up}\n`,
    );
    const { settings } = proberConfig.load(text + resources.join(''), running);
    expect(settings?.dependentResources).toHaveLength(99);
  });
});
