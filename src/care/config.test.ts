import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configCases, textOf } from '../config/testing/mistakes.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import { type CareSettings, careConfig } from './config.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

const cases = configCases(read('../config/fixtures/care.txt'));
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

describe('careConfig.load', () => {
  it('applies all defaults', () => {
    const { settings } = careConfig.load('{}', running);
    expect(settings).toEqual(defaults);
    expect([settings, settings?.dependants[0]?.ref].every(Object.isFrozen)).toBe(true);
  });

  it('reads every field', () => {
    expect(careConfig.load(textOf(cases, 'base'), running)).toMatchObject({
      settings: {
        kubeConfigSecretName: 'shoot-access-care',
        allowInsecureShoots: true,
        syncPeriod: 30_000,
        concurrentSyncs: 5,
        dependants: [deployment('kube-controller-manager', false), deployment('cluster-autoscaler', true)],
        conditionThresholds: [
          { type: 'ControlPlaneHealthy', duration: 300_000 },
          { type: 'EveryNodeReady', duration: 0 },
        ],
        staleExtensionHealthChecks: { enabled: true, threshold: 600_000 },
        managedResourceProgressingThreshold: 3_600_000,
      },
      problems: [],
    });
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
});
