import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createMeter } from '../../src/telemetry/index.ts';
import { root } from '../documents/markdown.ts';
import { describePromtool, promtool } from './promtool.ts';
import { problemsOf } from './queries.ts';
import { registries } from './registries.ts';

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync(`${root}deploy/chart/files/dashboard.json`, 'utf8')) as {
  readonly panels: readonly Panel[];
};
const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

it('uses only metrics and labels that the programs declare', async () => {
  const known = await registries();
  expect(queries.length).toBeGreaterThan(10);
  for (const expr of queries) expect(problemsOf(expr, known), expr).toEqual([]);
  const ofNode = queries.flatMap((expr) => expr.match(/\b(?:process|nodejs)_\w+/g) ?? []);
  const text = await createMeter().metricsText();
  expect(ofNode.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
});

describePromtool('the queries', () => {
  it('are accepted by Prometheus', () => {
    const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
    const files = { 'rules.yaml': stringify({ groups: [{ name: 'dashboard', rules }] }) };
    const { status, output } = promtool(['check', 'rules', '--lint=none', 'rules.yaml'], { files });
    expect(status, output).toBe(0);
  });

  it('cap the value of a scale-down that came minutes late, so that the others remain distinguishable', () => {
    const [expr] = panels.find(({ title }) => title === 'Grace left at the last scale-down')?.targets ?? [];
    const series = (namespace: string, left: number) => ({
      series: `dwd_prober_grace_left_seconds{instance="1", namespace="garden", exported_namespace="${namespace}"}`,
      values: `${left}x3`,
    });
    const test = {
      rule_files: [],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [series('after-a-pause', -335), series('late', -2), series('in-time', 12)],
          promql_expr_test: [
            {
              expr: expr?.expr,
              eval_time: '1m',
              exp_samples: [
                { labels: '{namespace="after-a-pause"}', value: -10 },
                { labels: '{namespace="late"}', value: -2 },
                { labels: '{namespace="in-time"}', value: 12 },
              ],
            },
          ],
        },
      ],
    };
    const { status, output } = promtool(['test', 'rules', 'test.yaml'], { files: { 'test.yaml': stringify(test) } });
    expect(status, output).toBe(0);
  });
});
