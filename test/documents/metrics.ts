import type { DeclaredMetric, Registry } from '../monitoring/registries.ts';
import { table } from './configure.ts';

// Builds the tables of docs/metrics.md and docs/dev/health-checks.md from the registries.

const head = ['metric', 'meaning'];

/** Throws if the name does not tell a counter from a gauge, as the document says it does. */
const rowOf = ({ name, type, labels = [], help }: DeclaredMetric): readonly string[] => {
  if (name.endsWith('_total') !== (type === 'counter')) throw new Error(`${name} is a ${type}`);
  const series = labels.length === 0 ? name : `${name}{${labels.join(',')}}`;
  return [`\`${series}\``, type === 'histogram' ? `Histogram. ${help}` : help];
};

const tableOf = (metrics: readonly DeclaredMetric[]): string =>
  table(head, [...metrics].sort((a, b) => a.name.localeCompare(b.name)).map(rowOf));

/** Tables by key: one for each component, and one for the metrics that several components have. */
export const metricTables = (registries: Readonly<Record<string, Registry>>): ReadonlyMap<string, string> => {
  const owners = new Map<string, Set<string>>();
  for (const [owner, { metrics }] of Object.entries(registries)) {
    for (const { name } of metrics) owners.set(name, (owners.get(name) ?? new Set()).add(owner));
  }
  const isShared = ({ name }: DeclaredMetric): boolean => (owners.get(name)?.size ?? 0) > 1;
  const all = Object.values(registries).flatMap(({ metrics }) => metrics);
  const shared = new Map(all.filter(isShared).map((metric) => [metric.name, metric]));
  return new Map([
    ['metrics of all', tableOf([...shared.values()])],
    ...Object.entries(registries).map(
      ([owner, { metrics }]) =>
        [`metrics of ${owner}`, tableOf(metrics.filter((metric) => !isShared(metric)))] as const,
    ),
  ]);
};
