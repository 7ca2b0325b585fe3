import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { root } from '../documents/markdown.ts';

export interface Rule {
  readonly expr: string;
  readonly record?: string;
  readonly alert?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** What Prometheus takes as a file of rules. */
export const rules = (
  parse(readFileSync(`${root}deploy/monitoring/prometheusrule.yaml`, 'utf8')) as { readonly spec: Rules }
).spec;

const all = rules.groups.flatMap((group) => group.rules);

export const alerts: readonly (Rule & { readonly alert: string })[] = all.flatMap((rule) =>
  rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }],
);

/** By name. */
export const recorded: ReadonlyMap<string, Rule> = new Map(
  all.flatMap((rule) => (rule.record === undefined ? [] : [[rule.record, rule] as const])),
);
