import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkMany, mutate, mutations } from '../../test/doubles/mutations.ts';
import { proberConfig } from '../prober/config/config.ts';
import type { ProberSettings, ScaleInfo } from '../prober/config/settings.ts';
import { hasErrors } from './rules/problem.ts';
import { gardenletText } from './testing/texts.ts';

const whole = {
  ...(parse(gardenletText) as object),
  initialDelay: '10s',
  probeTimeout: '5s',
  backoffJitterFactor: 0.1,
  kcmNodeMonitorGraceDuration: '40s',
  nodeLeaseFailureFraction: 0.6,
};

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isPositive = (value: number): boolean => Number.isFinite(value) && value > 0;
const isAtLeastZero = (value: number): boolean => Number.isFinite(value) && value >= 0;
const isSoundScaling = (info: ScaleInfo): boolean =>
  [info.level, info.initialDelayMs].every(isAtLeastZero) && isPositive(info.timeoutMs);

/** Returns true if every setting is in its range. */
const isSound = (settings: ProberSettings): boolean => {
  const { probeIntervalMs, probeTimeoutMs, nodeMonitorGraceMs, nodeLeaseFailureFraction } = settings;
  return (
    [probeIntervalMs, probeTimeoutMs, nodeMonitorGraceMs, nodeLeaseFailureFraction].every(isPositive) &&
    [settings.initialDelayMs, settings.backoffJitterFactor].every(isAtLeastZero) &&
    nodeLeaseFailureFraction <= 1 &&
    /^[a-z0-9.-]{1,253}$/.test(settings.kubeConfigSecretName) &&
    settings.dependentResources.length > 0 &&
    settings.dependentResources.every(
      ({ ref, scaleUp, scaleDown }) =>
        [ref.apiVersion, ref.kind, ref.name].every(isText) &&
        isSoundScaling(scaleUp) &&
        (scaleDown === undefined || isSoundScaling(scaleDown)),
    )
  );
};

/** Writes a value as JSON: Infinity as a number beyond all doubles, because JSON has no other form, and undefined as an empty text. */
const write = (value: unknown): string => {
  if (value === undefined) return '';
  const text = JSON.stringify(value, (_key, part: unknown) => (part === Infinity ? '@infinity' : part));
  return text.replaceAll('"@infinity"', '1e999');
};

describe('a configuration with something wrong in it', () => {
  it('is refused with a message, or its settings are all in range', () => {
    const counts = checkMany(
      mutations(3),
      (changes) => {
        const text = write(mutate(whole, changes));
        const { settings, problems } = proberConfig.load(text, { unknownFields: 'warning' });
        expect(problems.filter(({ path, message }) => path === '' || message === '')).toEqual([]);
        expect(hasErrors(problems)).toBe(settings === undefined);
        if (settings !== undefined) expect(isSound(settings)).toBe(true);
        return settings === undefined ? 'refused' : 'taken';
      },
      200,
    );
    expect(counts.get('refused')).toBeGreaterThan(20);
    expect(counts.get('taken')).toBeGreaterThan(20);
  });

  it.each([
    ['[', ']'],
    ['{a: ', '}'],
    ['- ', ''],
    ['? ', ''],
    ['&a ', ''],
    ['!!map ', ''],
  ])('is refused without a crash when it nests %j up to 100,000 levels deep', (open, close) => {
    for (const depth of [100, 10_000, 100_000]) {
      const text = `${open.repeat(depth)}x${close.repeat(depth)}`;
      const { settings, problems } = proberConfig.load(text, { unknownFields: 'warning' });
      expect(settings).toBeUndefined();
      expect(hasErrors(problems)).toBe(true);
      const inside = proberConfig.load(`${gardenletText}more: ${text}\n`, { unknownFields: 'warning' });
      expect(inside.problems.length).toBeGreaterThan(0);
    }
  });
});
