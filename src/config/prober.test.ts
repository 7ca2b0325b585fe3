import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type ConfigProblem, checkProberFile, formatProblem, hasErrors, loadProberConfig } from './index.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

const fixtures = readdirSync(fileURLToPath(new URL('fixtures', import.meta.url)))
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => ({ file, text: read(`fixtures/${file}`) }));

const running = { leftovers: 'warning' } as const;

const load = (text: string) => {
  const { settings, problems } = loadProberConfig(text, running);
  if (settings === undefined) throw new Error(problems.map((problem) => formatProblem('config', problem)).join('\n'));
  return { settings, problems };
};

/** What Gardener's gardenlet writes: `sigs.k8s.io/yaml` of dependency-watchdog's `prober.Config`. */
const gardeners = `dependentResourceInfos:
- optional: false
  ref:
    apiVersion: apps/v1
    kind: Deployment
    name: kube-controller-manager
  scaleDown:
    level: 1
  scaleUp:
    level: 0
- optional: false
  ref:
    apiVersion: apps/v1
    kind: Deployment
    name: machine-controller-manager
  scaleDown:
    level: 0
  scaleUp:
    initialDelay: 30s
    level: 1
- optional: true
  ref:
    apiVersion: apps/v1
    kind: Deployment
    name: cluster-autoscaler
  scaleDown:
    level: 0
  scaleUp:
    level: 2
kubeConfigSecretName: shoot-access-dependency-watchdog-probe
probeInterval: 30s
`;

const minimal = `kubeConfigSecretName: probe
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0}
`;

const deployment = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });

describe('checkProberFile', () => {
  it.each(fixtures)('tells all that is wrong with fixtures/$file', ({ file, text }) => {
    const lines = checkProberFile(text).map((problem) => `${formatProblem(file, problem)}\n`);
    expect(lines.join('')).toBe(read(`fixtures/${file.replace(/yaml$/, 'expected')}`));
  });

  it('finds nothing wrong with the example', () => {
    expect(checkProberFile(read('../../examples/prober-config.yaml'))).toEqual([]);
  });

  it('refuses more than 256 KiB', () => {
    const text = `${minimal}#${'x'.repeat(256 * 1024)}`;
    expect(checkProberFile(text)).toMatchObject([{ line: 1, column: 1, path: '.', severity: 'error' }]);
  });

  it('survives nesting that exhausts the parser', () => {
    for (const opening of ['[', '{a: ', '- ', '? ', 'a:\n ']) {
      expect(hasErrors(checkProberFile(opening.repeat(20_000)))).toBe(true);
    }
  });

  it('finds in a ConfigMap what it finds in the file, at its place there', () => {
    const configs = fixtures.filter(({ text }) => !text.includes('kind: ConfigMap'));
    const indent = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(fc.constantFrom(...configs), indent, fc.boolean(), ({ text }, spaces, carriageReturns) => {
        fc.pre(text.trim() !== '' && !text.includes('\t'));
        const indented = text.replace(/^(?=.)/gm, ' '.repeat(spaces));
        const manifest = `kind: ConfigMap\ndata:\n ? config\n : |2\n${indented.replace(/^/gm, '  ')}`.replace(
          ' ? config\n : |2',
          ` config: |`,
        );
        const embedded = checkProberFile(carriageReturns ? manifest.replaceAll('\n', '\r\n') : manifest);
        const expected = checkProberFile(text).map((problem) => ({
          ...problem,
          line: problem.line + 3,
          column: problem.column + spaces + 2,
          path: problem.path === '.' ? 'data.config' : `data.config.${problem.path}`.replace('.[', '['),
        }));
        expect(embedded).toEqual(expected);
      }),
    );
  });
});

describe('loadProberConfig', () => {
  it('reads what Gardener writes', () => {
    const { settings, problems } = load(gardeners);
    expect(problems).toMatchObject([{ path: 'kcmNodeMonitorGraceDuration', severity: 'warning' }]);
    expect(settings.probeIntervalMs).toBe(30_000);
    expect(settings.dependentResources).toEqual([
      {
        ref: deployment('kube-controller-manager'),
        optional: false,
        scaleUp: { level: 0, initialDelayMs: 0, timeoutMs: 30_000 },
        scaleDown: { level: 1, initialDelayMs: 0, timeoutMs: 30_000 },
      },
      {
        ref: deployment('machine-controller-manager'),
        optional: false,
        scaleUp: { level: 1, initialDelayMs: 30_000, timeoutMs: 30_000 },
        scaleDown: { level: 0, initialDelayMs: 0, timeoutMs: 30_000 },
      },
      {
        ref: deployment('cluster-autoscaler'),
        optional: true,
        scaleUp: { level: 2, initialDelayMs: 0, timeoutMs: 30_000 },
        scaleDown: { level: 0, initialDelayMs: 0, timeoutMs: 30_000 },
      },
    ]);
  });

  it('fills in the defaults', () => {
    expect(load(minimal).settings).toEqual({
      kubeConfigSecretName: 'probe',
      probeIntervalMs: 10_000,
      initialDelayMs: 30_000,
      probeTimeoutMs: 30_000,
      backoffJitterFactor: 0.2,
      nodeMonitorGraceMs: 40_000,
      nodeLeaseFailureFraction: 0.6,
      dependentResources: [
        {
          ref: deployment('kube-controller-manager'),
          optional: false,
          scaleUp: { level: 0, initialDelayMs: 0, timeoutMs: 30_000 },
        },
      ],
    });
  });

  it.each([
    ['initialDelay: 0', { initialDelayMs: 0 }],
    ['initialDelay: "0"', { initialDelayMs: 0 }],
    ['probeInterval: 1m30s', { probeIntervalMs: 90_000 }],
    ['probeInterval: 0.5s', { probeIntervalMs: 500 }],
    ['probeInterval: 87600h', { probeIntervalMs: 87_600 * 3_600_000 }],
    ['backoffJitterFactor: 0', { backoffJitterFactor: 0 }],
    ['backoffJitterFactor: 2', { backoffJitterFactor: 2 }],
    ['nodeLeaseFailureFraction: 1', { nodeLeaseFailureFraction: 1 }],
    ['nodeLeaseFailureFraction: 1e-9', { nodeLeaseFailureFraction: 1e-9 }],
    ['kcmNodeMonitorGraceDuration: 2m', { nodeMonitorGraceMs: 120_000 }],
    ['kcmNodeMonitorGraceDuration: null', { nodeMonitorGraceMs: 40_000 }],
    ['probeTimeout: ~', { probeTimeoutMs: 30_000 }],
    ['externalProbe: null', {}],
    ['PROBEINTERVAL: 7s', { probeIntervalMs: 7_000 }],
    ['PROBEINTERVAL: 7s\nprobeInterval: 8s', { probeIntervalMs: 8_000 }],
    ['probeInterval: 8s\nPROBEINTERVAL: 7s', { probeIntervalMs: 8_000 }],
    ['failureThreshold: 3', {}],
    ['toString: 3', {}],
    ['__proto__: {probeInterval: 7s}', { probeIntervalMs: 10_000 }],
    ['constructor: {probeInterval: 7s}', { probeIntervalMs: 10_000 }],
    ['---', {}],
  ])('takes %s as the Go program does', (line, expected) => {
    expect(load(`${minimal}${line}\n`).settings).toMatchObject(expected);
  });

  it.each([
    ['yes', true],
    ['On', true],
    ['y', true],
    ['TRUE', true],
    ['no', false],
    ['OFF', false],
    ['n', false],
    ['~', false],
  ])('takes optional: %s for %s, as YAML 1.1 does', (word, optional) => {
    const { settings } = load(`${minimal}    optional: ${word}\n`);
    expect(settings.dependentResources[0]?.optional).toBe(optional);
  });

  it('warns about what it does not know, where it runs', () => {
    const { problems } = load(`${minimal}kcmNodeMonitorGraceDuration: 40s\nsuccessThreshold: 1\nProbeInterval: 5s\n`);
    expect(problems.map(({ path, severity }) => `${severity} ${path}`)).toEqual([
      'warning successThreshold',
      'warning ProbeInterval',
    ]);
  });

  it('reads JSON, a byte order mark and CRLF', () => {
    const json = JSON.stringify({
      kubeConfigSecretName: 'probe',
      dependentResourceInfos: [{ ref: deployment('kube-controller-manager'), scaleUp: { level: 0 } }],
    });
    for (const text of [json, `\ufeff${minimal}`, minimal.replaceAll('\n', '\r\n')]) {
      expect(load(text).settings).toEqual(load(minimal).settings);
    }
  });

  it('freezes the settings to the last leaf', () => {
    const { settings } = load(gardeners);
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(settings)).toBe(true);
  });

  it.each(fixtures)('has settings for fixtures/$file or tells an error', ({ text }) => {
    const { settings, problems } = loadProberConfig(text, running);
    expect(settings === undefined).toBe(hasErrors(problems));
  });
});

describe('any text', () => {
  const words = fc.constantFrom(
    ...[
      'kubeConfigSecretName',
      'dependentResourceInfos',
      'ref',
      'scaleUp',
      'level',
      ': ',
      ':\n',
      '\n',
      ' ',
      '  ',
      '- ',
    ],
    ...[
      '0',
      '1s',
      '&a',
      '*a',
      '<<',
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      "'",
      '|',
      '>',
      '!',
      '%',
      '#',
      '?',
      '---\n',
      '\t',
      '\0',
    ],
    ...['kind: ConfigMap', 'data'],
  );
  const soup = fc.array(words, { maxLength: 60 }).map((parts) => parts.join(''));
  const damaged = fc
    .tuple(fc.constantFrom(gardeners, ...fixtures.map(({ text }) => text)), fc.nat(), fc.nat({ max: 20 }), soup)
    .map(([text, at, removed, added]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + added + text.slice(start + removed);
    });
  const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), soup, damaged);

  const standsIn = (text: string, { line, column, path, message }: ConfigProblem): boolean => {
    const lines = text.replace(/^\ufeff/, '').split('\n');
    const inFile = line >= 1 && line <= lines.length && column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 2;
    return inFile && path !== '' && message !== '' && !message.includes('\n');
  };

  it('never throws, and every problem stands in the file', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { settings, problems } = loadProberConfig(text, running);
        expect(settings === undefined).toBe(hasErrors(problems));
        for (const problem of [...problems, ...checkProberFile(text)]) {
          if (!standsIn(text, problem)) throw new Error(JSON.stringify(problem));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('any valid configuration', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/);
  const ms = fc.integer({ min: 1, max: 1e9 });
  const scaleInfo = fc.record({ level: fc.nat(), initialDelayMs: fc.nat(), timeoutMs: ms });
  const resource = fc.record(
    {
      ref: fc.record({ apiVersion: fc.constantFrom('apps/v1', 'v1'), kind: name, name }),
      optional: fc.boolean(),
      scaleUp: scaleInfo,
      scaleDown: scaleInfo,
    },
    { requiredKeys: ['ref', 'optional', 'scaleUp'] },
  );
  const settings = fc.record({
    kubeConfigSecretName: name,
    probeIntervalMs: ms,
    initialDelayMs: fc.nat(),
    probeTimeoutMs: ms,
    backoffJitterFactor: fc.double({ min: 0, max: 10, noNaN: true }).map((value) => value + 0),
    nodeMonitorGraceMs: ms,
    nodeLeaseFailureFraction: fc.double({ min: 0, max: 1, minExcluded: true, noNaN: true }),
    dependentResources: fc.uniqueArray(resource, {
      minLength: 1,
      maxLength: 5,
      selector: ({ ref }) => JSON.stringify([ref.apiVersion, ref.kind, ref.name]),
    }),
  });

  const writeScale = (info: { level: number; initialDelayMs: number; timeoutMs: number }) => ({
    level: info.level,
    initialDelay: `${info.initialDelayMs}ms`,
    timeout: `${info.timeoutMs}ms`,
  });

  it('comes out as it was written', () => {
    fc.assert(
      fc.property(settings, fc.constantFrom(stringify, JSON.stringify), (wanted, write) => {
        const text = write({
          kubeConfigSecretName: wanted.kubeConfigSecretName,
          probeInterval: `${wanted.probeIntervalMs}ms`,
          initialDelay: `${wanted.initialDelayMs}ms`,
          probeTimeout: `${wanted.probeTimeoutMs}ms`,
          backoffJitterFactor: wanted.backoffJitterFactor,
          kcmNodeMonitorGraceDuration: `${wanted.nodeMonitorGraceMs}ms`,
          nodeLeaseFailureFraction: wanted.nodeLeaseFailureFraction,
          dependentResourceInfos: wanted.dependentResources.map(({ ref, optional, scaleUp, scaleDown }) => ({
            ref,
            optional,
            scaleUp: writeScale(scaleUp),
            ...(scaleDown === undefined ? {} : { scaleDown: writeScale(scaleDown) }),
          })),
        });
        expect(loadProberConfig(text, running)).toEqual({ settings: wanted, problems: [] });
      }),
    );
  });
});
