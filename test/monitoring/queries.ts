import { type AlertRule, recorded } from './alerts.ts';
import type { Registry } from './registries.ts';

/** Labels that Prometheus, its operator, histograms or a dry run add to series. */
const attached = ['dry_run', 'le', 'instance', 'pod', 'job', 'exported_namespace', 'exported_service'];

/** Suffix of the series of a histogram. */
const suffix = /_(?:bucket|sum|count)$/;

/** Labels of every metric that we declare or record, by its name. */
const labelsOf = (registries: Readonly<Record<string, Registry>>): ReadonlyMap<string, readonly string[]> => {
  const metrics = Object.values(registries).flatMap((registry) => registry.metrics);
  const known = new Map(metrics.map(({ name, labels = [] }) => [name, labels]));
  for (const [name, { expr }] of recorded) known.set(name, byIn(expr));
  return known;
};

const byIn = (expr: string): readonly string[] =>
  Array.from(expr.matchAll(/\b(?:by|group_left|ignoring) ?\(([^)]*)\)/g), ([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  )
    .flat()
    .filter((label) => label !== '');

/** Series in a query, with the labels of their selectors. */
const seriesIn = (expr: string): readonly { readonly name: string; readonly labels: readonly string[] }[] =>
  Array.from(expr.matchAll(/\b(dwd[_:][a-z_:]+)(?:\{([^}]*)\})?/g), ([, name = '', selector = '']) => ({
    name,
    labels: Array.from(selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label),
  }));

/** Describes metrics and labels in a query that none of our programs declares. */
export const problemsOf = (
  expr: AlertRule['expr'],
  registries: Readonly<Record<string, Registry>>,
): readonly string[] => {
  const known = labelsOf(registries);
  const found = seriesIn(expr);
  const problems = found.flatMap(({ name, labels }) => {
    const declared = known.get(name) ?? known.get(name.replace(suffix, ''));
    if (declared === undefined) return [`there is no metric ${name}`];
    const wrong = labels.filter((label) => !declared.includes(label) && !attached.includes(label));
    return wrong.map((label) => `${name} has no label ${label}`);
  });
  const available = [
    ...found.flatMap(({ name }) => known.get(name) ?? known.get(name.replace(suffix, '')) ?? []),
    ...attached,
  ];
  const grouped = byIn(expr).filter((label) => !available.includes(label));
  return [...problems, ...grouped.map((label) => `nothing in the query has the label ${label}`)];
};
