import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { root } from '../documents/markdown.ts';

export interface AlertRule {
  readonly expr: string;
  readonly record?: string;
  readonly alert?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface AlertRules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

/** Contents of the file of rules, as Prometheus reads it. */
export const rules = parse(readFileSync(`${root}deploy/chart/files/alerts.yaml`, 'utf8')) as AlertRules;

const all = rules.groups.flatMap((group) => group.rules);

export const alerts: readonly (AlertRule & { readonly alert: string })[] = all.flatMap((rule) =>
  rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }],
);

/** Recording rules by name. */
export const recorded: ReadonlyMap<string, AlertRule> = new Map(
  all.flatMap((rule) => (rule.record === undefined ? [] : [[rule.record, rule] as const])),
);
