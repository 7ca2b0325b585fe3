import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkMany, mutate, mutations } from '../../test/doubles/mutations.ts';
import { hasErrors } from '../config/rules/problem.ts';
import { configCases, textOf } from '../config/testing/mistakes.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import { type CareSettings, careConfig } from './config.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

const cases = configCases(read('../config/fixtures/care.txt'));
const everything = textOf(cases, 'base');

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
    expect(careConfig.load(everything, running)).toMatchObject({
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

const isSound = (settings: CareSettings): boolean =>
  [
    settings.syncPeriod,
    settings.staleExtensionHealthChecks.threshold,
    settings.managedResourceProgressingThreshold ?? 1,
  ].every((ms) => Number.isFinite(ms) && ms > 0) &&
  Number.isInteger(settings.concurrentSyncs) &&
  settings.concurrentSyncs >= 1 &&
  settings.dependants.every(({ ref }) => [ref.apiVersion, ref.kind, ref.name].every((part) => part !== '')) &&
  settings.conditionThresholds.every(
    ({ type, duration }) => shootConditionTypes.some((known) => known === type) && duration >= 0,
  ) &&
  new Set(settings.conditionThresholds.map(({ type }) => type)).size === settings.conditionThresholds.length;

describe('a configuration with something wrong in it', () => {
  it('is refused with a message, or its settings are all in range', () => {
    const whole = parse(everything) as unknown;
    const counts = checkMany(
      mutations(3),
      (changes) => {
        const text = JSON.stringify(mutate(whole, changes)) as string | undefined;
        const { settings, problems } = careConfig.load(text ?? '', running);
        expect(problems.filter(({ path, message }) => path === '' || message === '')).toEqual([]);
        if (settings === undefined) expect(hasErrors(problems)).toBe(true);
        else expect(isSound(settings)).toBe(true);
        return settings === undefined ? 'refused' : 'taken';
      },
      200,
    );
    expect(counts.get('refused')).toBeGreaterThan(20);
    expect(counts.get('taken')).toBeGreaterThan(20);
  });
});
