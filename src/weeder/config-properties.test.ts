import { configCases, textOf } from '../config/testing/mistakes.ts';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { checkMany, mutate, mutations } from '../../test/doubles/mutations.ts';
import { hasErrors } from '../config/rules/problem.ts';
import {
  type LabelRequirement,
  type LabelSelector,
  formatLabelSelector,
  isLabelKey,
  isLabelValue,
} from '../kubernetes/api/label-selectors.ts';
import { weederConfig } from './config.ts';
import type { WeederSettings } from './settings.ts';

const everyOperator = textOf(
  configCases(readFileSync(fileURLToPath(new URL('../config/fixtures/weeder.txt', import.meta.url)), 'utf8')),
  'base',
);

const running = { unknownFields: 'warning' } as const;

const isSoundRequirement = ({ key, operator, values }: LabelRequirement): boolean => {
  const takesValues = operator === 'In' || operator === 'NotIn';
  return isLabelKey(key) && values.every(isLabelValue) && values.length > 0 === takesValues;
};

const isSoundSelector = (selector: LabelSelector): boolean =>
  Object.entries(selector.matchLabels).every(([key, value]) => isLabelKey(key) && isLabelValue(value)) &&
  selector.matchExpressions.every(isSoundRequirement) &&
  formatLabelSelector(selector) !== '';

/** True if an API server accepts every part of the settings, and no selector selects every pod. */
const isSound = ({ watchDurationMs, services }: WeederSettings): boolean =>
  Number.isFinite(watchDurationMs) &&
  watchDurationMs > 0 &&
  services.length > 0 &&
  services.every(
    ({ name, podSelectors }) =>
      /^[a-z0-9-]{1,63}$/.test(name) && podSelectors.length > 0 && podSelectors.every(isSoundSelector),
  );

describe('a weeder configuration with something wrong in it', () => {
  it('is refused with a message, or its settings are valid', () => {
    const whole = parse(everyOperator) as unknown;
    const counts = checkMany(
      mutations(3),
      (changes) => {
        const text = JSON.stringify(mutate(whole, changes)) as string | undefined;
        const { settings, problems } = weederConfig.load(text ?? '', running);
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

  it('never throws, for any text', { timeout: 60_000 }, () => {
    const damage = fc.tuple(fc.nat(everyOperator.length), fc.nat(20), fc.string({ unit: 'binary', maxLength: 10 }));
    const damaged = damage.map(
      ([at, removed, added]) => everyOperator.slice(0, at) + added + everyOperator.slice(at + removed),
    );
    fc.assert(
      fc.property(damaged, (text) => {
        const { settings, problems } = weederConfig.load(text, running);
        expect(settings === undefined).toBe(hasErrors(problems));
        if (settings === undefined) expect(hasErrors(weederConfig.check(text))).toBe(true);
        else expect(isSound(settings)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe('any valid weeder configuration', () => {
  const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
  const key = fc
    .tuple(
      fc.constantFrom('', 'gardener.cloud/', 'example.org/'),
      fc.stringMatching(/^[A-Za-z0-9]([-\w.]{0,20}[A-Za-z0-9])?$/),
    )
    .map((parts) => parts.join(''));
  const value = fc.oneof(
    fc.stringMatching(/^([A-Za-z0-9]([-\w.]{0,20}[A-Za-z0-9])?)?$/),
    fc.constantFrom('true', 'yes', '1', '1.30', 'null', '0x10', '1e3', '2026-11-21'),
  );
  const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
    fc.record<LabelRequirement>({
      key,
      operator: fc.constantFrom('In', 'NotIn'),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    }),
    fc.record<LabelRequirement>({
      key,
      operator: fc.constantFrom('Exists', 'DoesNotExist'),
      values: fc.constant([]),
    }),
  );
  const selector: fc.Arbitrary<LabelSelector> = fc
    .record({
      matchLabels: fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true }),
      matchExpressions: fc.array(requirement, { maxLength: 3 }),
    })
    .filter((wanted) => formatLabelSelector(wanted) !== '');
  const settings: fc.Arbitrary<WeederSettings> = fc.record({
    watchDurationMs: fc.integer({ min: 1, max: 1e9 }),
    services: fc.uniqueArray(
      fc.record({
        name,
        podSelectors: fc.uniqueArray(selector, { minLength: 1, maxLength: 3, selector: formatLabelSelector }),
      }),
      { minLength: 1, maxLength: 4, selector: (service) => service.name },
    ),
  });

  /** Writes YAML with quotes around texts that Go reads as booleans. */
  const quoting = (config: object): string => stringify(config, { version: '1.1' });

  it('is read as it was written', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(settings, fc.constantFrom(quoting, JSON.stringify), (wanted, write) => {
        const text = write({
          watchDuration: `${wanted.watchDurationMs}ms`,
          servicesAndDependantSelectors: Object.fromEntries(
            wanted.services.map((service) => [service.name, { podSelectors: service.podSelectors }]),
          ),
        });
        const { settings: found, problems } = weederConfig.load(text, running);
        expect(problems).toEqual([]);
        // The order may differ: JavaScript puts names that are whole numbers first in any object.
        const byName = (read: WeederSettings | undefined) => new Map(read?.services.map((one) => [one.name, one]));
        expect(byName(found)).toEqual(byName(wanted));
        expect(found?.watchDurationMs).toBe(wanted.watchDurationMs);
      }),
    );
  });
});
