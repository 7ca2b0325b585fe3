import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import { type CareSettings, careConfig } from './config.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

const running = { unknownFields: 'warning' } as const;
const deployment = (name: string, optional: boolean) => ({
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name },
  optional,
});

const defaults: CareSettings = {
  kubeConfigSecretName: 'shoot-access-dependency-watchdog-probe',
  allowInsecureShoots: false,
  syncPeriod: 60_000,
  concurrentSyncs: 20,
  dependants: [
    deployment('kube-controller-manager', false),
    deployment('machine-controller-manager', false),
    deployment('cluster-autoscaler', true),
  ],
  conditionThresholds: [],
  staleExtensionHealthChecks: { enabled: true, threshold: 300_000 },
};

it('applies all defaults', () => {
  const { settings } = careConfig.load('{}', running);
  expect(settings).toEqual(defaults);
});

it('reads the example as the defaults, except for fields without a default', () => {
  const { settings } = careConfig.load(read('../../examples/care-config.yaml'), running);
  const {
    apiVersion: _,
    kind: __,
    conditionThresholds,
    managedResourceProgressingThreshold,
    ...others
  } = settings ?? defaults;
  expect({ ...others, conditionThresholds: [] }).toEqual(defaults);
  expect(conditionThresholds.map(({ type }) => type).toSorted()).toEqual([...shootConditionTypes].toSorted());
  expect(managedResourceProgressingThreshold).toBe(3_600_000);
});
