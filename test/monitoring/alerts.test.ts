import { readFileSync, readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { root } from '../documents/markdown.ts';
import { type AlertRules, alerts, recorded, rules } from './alerts.ts';
import { type PromtoolResult, describePromtool, promtool } from './promtool.ts';
import { problemsOf } from './queries.ts';
import { type Registry, registries } from './registries.ts';

const testAlerts = (tested: AlertRules): PromtoolResult => {
  const tests = ['tests.yaml', 'tests-of-days.yaml'];
  const texts = tests.map((file) => [file, readFileSync(`${root}deploy/monitoring/${file}`, 'utf8')] as const);
  return promtool(['test', 'rules', ...tests], {
    files: { 'rules.yaml': stringify(tested), ...Object.fromEntries(texts) },
  });
};

/** Returns the rules with this query for every alert. Each has a label of its own, because two rules of one alert must not give the same series. */
const withQuery = (expr: string): AlertRules => ({
  groups: rules.groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule, index) =>
      rule.alert === undefined ? rule : { ...rule, expr, labels: { ...rule.labels, rule: String(index) } },
    ),
  })),
});

/** An alert may have several rules. */
const names = [...new Set(alerts.map(({ alert }) => alert))];

describePromtool('the alerts', () => {
  it('are rules that promtool accepts', () => {
    const files = { 'rules.yaml': stringify(rules) };
    expect(promtool(['check', 'rules', '--lint-fatal', 'rules.yaml'], { files })).toMatchObject({ status: 0 });
  });

  it('fire and do not fire as their tests expect', () => {
    expect(testAlerts(rules)).toMatchObject({ status: 0 });
  });

  it('each have a test in which they fire', () => {
    const { status, output } = testAlerts(withQuery('vector(1) > 1'));
    expect(status).toBe(1);
    const missed = Array.from(output.matchAll(/exp: (.*)\n\s*got: nil/g), ([, wanted = '']) => wanted).join('\n');
    expect(names.filter((name) => !missed.includes(`alertname="${name}"`))).toEqual([]);
  });

  it('each have a test in which they do not fire', () => {
    const { status, output } = testAlerts(withQuery('vector(1)'));
    expect(status).toBe(1);
    const wrong = Array.from(output.matchAll(/exp: nil\n\s*got: (.*)/g), ([, got = '']) => got).join('\n');
    expect(names.filter((name) => !wrong.includes(`alertname="${name}"`))).toEqual([]);
  });
});

describe('the alerts', () => {
  it.each(names)('%s has a severity, a summary and a description', (name) => {
    const { labels, annotations = {} } = alerts.find(({ alert }) => alert === name) ?? expect.unreachable();
    expect(['info', 'warning', 'critical']).toContain(labels?.severity);
    expect(annotations.seed).toContain('dwd_prober_seed_info');
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.description).toMatch(/\.$/);
  });

  it('each have a runbook, and each runbook has an alert', () => {
    const runbooks = readdirSync(`${root}docs/runbooks`).filter((file) => file !== 'README.md');
    expect(runbooks.toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
  });
});

describe('the queries', () => {
  let known: Readonly<Record<string, Registry>>;
  beforeAll(async () => {
    known = await registries();
  });

  it('use only metrics and labels that the programs declare', () => {
    for (const { alert, record, expr } of rules.groups.flatMap((group) => group.rules)) {
      expect(problemsOf(expr, known), alert ?? record).toEqual([]);
    }
  });

  it('use all recorded series', () => {
    const used = rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)).join('\n');
    expect([...recorded.keys()].filter((name) => !used.includes(name))).toEqual([]);
  });

  it.each([
    ['dwd_prober_shoots{verdict="x"}', []],
    ['dwd_prober_shoot', ['there is no metric dwd_prober_shoot']],
    ['dwd_prober_shoots{state="x"}', ['dwd_prober_shoots has no label state']],
    ['sum by (namespace) (dwd_prober_shoots)', ['nothing in the query has the label namespace']],
    ['rate(dwd_prober_run_duration_seconds_bucket{le="1"}[5m])', []],
  ])('are checked: %s', (expr, problems) => {
    expect(problemsOf(expr, known)).toEqual(problems);
  });
});
