import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import type { CareResults } from '../care/once.ts';
import type { Condition } from '../gardener/condition.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { exitCodeOf, formatResults } from './care-output.ts';
import { dwd, dwdWith, logLines } from './testing/dwd.ts';

type Care = CareResults[number];

const condition = (type: string, status: string, others: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: `${type}Reason`,
  message: `${type} message`,
  lastTransitionTime: '2026-11-21T05:00:00Z',
  lastUpdateTime: '2026-11-21T05:00:00Z',
  ...others,
});

const failed = { kind: 'failed', trouble: 'conditions could not be written to the garden: no' } as const;
const leftAlone = {
  kind: 'left-alone',
  trouble: 'left alone: gardenlet writes these conditions; --take-over writes them all the same',
} as const;

const careOf = (name: string, others: Partial<Care> = {}): Care => ({
  namespace: `shoot--dev--${name}`,
  shoot: { namespace: 'garden-dev', name },
  conditions: [condition('APIServerAvailable', 'True')],
  status: 'healthy',
  writing: { kind: 'unchanged' },
  durationMs: 12,
  before: [],
  isSlow: false,
  ...others,
});

const sick = careOf('sick', {
  status: 'unhealthy',
  conditions: [
    condition('APIServerAvailable', 'True'),
    condition('ControlPlaneHealthy', 'False', {
      reason: 'DeploymentUnhealthy',
      message: `Deployment "kube-scheduler" is unhealthy: ${'condition "Available" has invalid status False '.repeat(3)}`,
      codes: ['ERR_INFRA_QUOTA_EXCEEDED'],
    }),
    condition('ObservabilityComponentsHealthy', 'Progressing', {
      reason: 'OperatingSystemConfigOutdatedHealthCheckReport',
      message: 'x'.repeat(200),
    }),
  ],
});

const outcomes: readonly (readonly [string, CareResults, number])[] = [
  ['no shoots', [], 0],
  ['all is well', [careOf('one'), careOf('two')], 0],
  ['progress', [careOf('one', { conditions: [condition('EveryNodeReady', 'Progressing')] })], 0],
  ['False', [careOf('one'), sick], 1],
  ['Unknown', [careOf('one', { conditions: [condition('EveryNodeReady', 'Unknown')] })], 1],
  ['an unknown status', [careOf('one', { conditions: [condition('EveryNodeReady', 'Perhaps')] })], 1],
  [
    'a Cluster that cannot be read',
    [sick, careOf('one', { conditions: [], status: 'unknown', problem: 'no spec' })],
    2,
  ],
  ['a write that failed', [careOf('one', { writing: failed })], 2],
  ['a label that was refused', [careOf('one', { writing: { kind: 'written', trouble: 'refused' } })], 2],
  ['conditions that another client writes', [careOf('one', { writing: leftAlone })], 0],
];

/** A text that clears the screen, sets the title, reverses the direction of text, and forges a line. */
const hostile = '\u001b[2J\u001b]0;x\u0007\u009b31m\u202eevil\u2066\r\nshoot--dev--one: healthy\u007f\u0008';

describe('rule 31: text from outside', () => {
  const results: CareResults = [
    careOf(`one${hostile}`, {
      status: 'unhealthy',
      problem: hostile,
      conditions: ['True', 'False', hostile, 'constructor', '__proto__'].map((status) =>
        condition(`Type${hostile}`, status, { reason: hostile, message: hostile, codes: [hostile] }),
      ),
      writing: { kind: 'left-alone', trouble: hostile },
    }),
    careOf('two', { writing: { kind: 'failed', trouble: hostile } }),
  ];

  it.each(['table', 'json', 'yaml'] as const)('rule 31: never drives a terminal from a %s', (format) => {
    const text = formatResults(results, format);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(text).toMatch(/\\(?:u001b|e)\[2J/);
    expect(text).not.toMatch(/^shoot--dev--one: healthy/m);
  });

  it.each([
    ['json', (text: string): unknown => JSON.parse(text)],
    ['yaml', (text: string): unknown => parse(text)],
  ] as const)('rule 31: keeps its meaning in %s', (format, read) => {
    expect(read(formatResults(results, format))).toMatchObject({
      shoots: [{ problem: hostile, conditions: results[0]?.conditions }, { writing: { trouble: hostile } }],
    });
  });
});

describe('dwd care', () => {
  it('passes its settings and flags to the component and returns its exit code', async () => {
    const { code, stdout, stderr, cares } = await dwd(
      ...['care', '--config-file=care.yaml', '--garden-kubeconfig=garden.yaml', '--take-over', '--dry-run'],
    );
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(cares).toMatchObject([
      { settings: { syncPeriod: 30_000 }, flags: { dryRun: true }, gardenKubeconfig: 'garden.yaml', takeOver: true },
    ]);
    expect(logLines(stderr)).toMatchObject([
      { msg: 'starting the care' },
      { msg: expect.stringMatching(/^dry run/) as string },
    ]);
  });

  it.each([
    [['--shoot=shoot--dev--one'], 'shoot--dev--one'],
    [['--shoot=dev/one'], 'dev/one'],
    [['--namespace=shoot--dev--one'], 'shoot--dev--one'],
    [[], undefined],
  ])('with %j checks %s', async (flags, shoot) => {
    const { careOnce: run } = await dwd('care', '--config-file=care.yaml', '--once', ...flags);
    expect(run).toMatchObject([{ shoot }]);
  });

  it.each([
    [['--once', '-n=a', '--shoot=b'], 'flags --shoot and --namespace name different shoots'],
    [['-n=a'], 'flag --namespace requires --once'],
    [['--output=json'], 'flag --output requires --once'],
    [['--shoot=shoot--dev--one'], 'flag --shoot requires --once'],
    [['--once', '--output=xml'], 'flag --output takes table, json or yaml; it was given "xml"'],
    [['--concurrent-reconciles=3'], 'unknown flag'],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr, cares, careOnce: run } = await dwd('care', '--config-file=care.yaml', ...flags);
    expect({ code, cares, careOnce: run }).toEqual({ code: 2, cares: [], careOnce: [] });
    expect(stderr).toContain(`dwd care: ${message}`);
  });
});

describe('dwd care --once', () => {
  const once = (onceResult: Result<CareResults, string>, ...flags: readonly string[]) =>
    dwdWith(async () => 7, ['care', '--config-file=care.yaml', '--once', ...flags], { onceResult });

  it.each(outcomes)('%s: prints the results and exits with the matching code', async (_what, value, code) => {
    const outcome = await once({ ok: true, value });
    expect(outcome).toMatchObject({ code, stderr: '', stdout: formatResults(value, 'table') });
    expect(exitCodeOf(value)).toBe(code);
  });

  it('prints why nothing was checked', async () => {
    const outcome = await once({ ok: false, error: 'there is no Cluster x in this seed' }, '--shoot=x');
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: 'dwd care: there is no Cluster x in this seed\n' });
    expect(outcome.careOnce).toMatchObject([{ shoot: 'x', takeOver: false }]);
    expect(outcome.cares).toEqual([]);
  });

  it('prints the results as JSON', async () => {
    const { stdout } = await once({ ok: true, value: [sick] }, '--output=json');
    expect(JSON.parse(stdout)).toEqual({
      shoots: [
        {
          namespace: 'shoot--dev--sick',
          shoot: { namespace: 'garden-dev', name: 'sick' },
          status: 'unhealthy',
          conditions: sick.conditions,
          writing: { kind: 'unchanged' },
        },
      ],
    });
  });
});

describe('formatResults', () => {
  const all = outcomes.flatMap(([, results]) => results);

  it('has not changed and fits into 80 columns', async () => {
    const text = formatResults(all, 'table');
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    await expect(text).toMatchFileSnapshot('fixtures/care-table.txt');
  });

  it('aligns columns regardless of colours', () => {
    const uncoloured = formatResults([sick], 'table');
    vi.stubEnv('FORCE_COLOR', '1');
    const coloured = formatResults([sick], 'table');
    vi.unstubAllEnvs();
    expect(coloured).toContain('\u001b[31mFalse      \u001b[39m  DeploymentUnhealthy');
    expect(stripVTControlCharacters(coloured)).toBe(uncoloured);
  });

  it('leaves out shoots without any problem if there are many, and counts them', () => {
    const well = (count: number): CareResults => Array.from({ length: count }, (_, index) => careOf(`n${index}`));
    expect(formatResults(well(10), 'table')).toMatch(/n9 .*\n.*\n\n10 shoots: 10 healthy\n$/);
    expect(formatResults(well(250), 'table')).toBe(
      '250 shoots: 250 healthy\nnot shown: 250 without problems (--output json lists all)\n',
    );
    const others = [
      sick,
      careOf('failed', { writing: failed }),
      careOf('theirs', { writing: leftAlone }),
      careOf('unread', { conditions: [], status: 'unknown', problem: 'no spec' }),
      // A Shoot that is being created: its status does not depend on its conditions.
      careOf('new', { conditions: [condition('EveryNodeReady', 'False')] }),
    ];
    const text = formatResults([...well(245), ...others], 'table');
    expect(text.match(/^shoot--dev--\w+/gm)).toEqual(
      ['sick', 'unread', 'failed', 'theirs', 'new'].map((name) => `shoot--dev--${name}`),
    );
    expect(text).toMatch(/\n250 shoots: 1 unhealthy, 1 unknown, 248 healthy\nnot shown: 245 without problems .*\n$/);
    expect(JSON.parse(formatResults([...well(245), ...others], 'json'))).toMatchObject({
      shoots: Array.from({ length: 250 }, () => ({})),
    });
  });
});
