import { describe, expect, it } from 'vitest';
import type { Condition } from '../gardener/condition.ts';
import { DecodeError } from '../kubernetes/api/decode.ts';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { firstPatienceMs, otherConditionWriter } from './condition-writers.ts';

const now = Date.parse('2026-11-21T06:00:00Z');
const own = 'dependency-watchdog';
const item = (type: string, ...fields: readonly string[]) => ({
  [`k:{"type":"${type}"}`]: Object.fromEntries(['.', 'f:type', ...fields].map((field) => [field, {}])),
});
const written = (type: string) => item(type, 'f:status', 'f:lastTransitionTime', 'f:lastUpdateTime');
const status = (conditions: unknown) => ({ 'f:status': { 'f:conditions': conditions } });

const entry = (manager: string, ageMs: number, fieldsV1: unknown = status({})) => ({
  manager,
  operation: 'Update',
  apiVersion: 'core.gardener.cloud/v1beta1',
  subresource: 'status',
  time: formatTime(now - ageMs),
  fieldsType: 'FieldsV1',
  fieldsV1,
});
type Times = Pick<Condition, 'lastTransitionTime' | 'lastUpdateTime'>;

/** The writer if all stored conditions have these times. */
const writerAt = (times: Times, ...managedFields: readonly unknown[]) => {
  const conditions = ['Theirs', 'EveryNodeReady'].map((type) => ({
    type,
    status: '',
    reason: '',
    message: '',
    ...times,
  }));
  return otherConditionWriter({ name: 'one', managedFields }, { own, since: now - firstPatienceMs, conditions });
};
const justNow = { lastTransitionTime: formatTime(now), lastUpdateTime: formatTime(now) };
const writer = (...managedFields: readonly unknown[]) => writerAt(justNow, ...managedFields);

describe('another writer of our conditions', () => {
  it.each([
    ['just now', 0, true],
    ['five minutes ago', 300_000, true],
    ['longer ago', 301_000, false],
    ['in the future', -60_000, true],
  ])('%s', (_, ageMs, counts) => {
    expect(writer(entry('gardenlet', ageMs))).toBe(counts ? 'gardenlet' : undefined);
  });

  it.each([
    ['an owned type among others', status({ '.': {}, ...written('Theirs'), ...written('EveryNodeReady') }), true],
    ['a type of others', status({ '.': {}, ...written('Theirs') }), false],
    ['an owned type that is not stored', status({ '.': {}, ...written('ControlPlaneHealthy') }), false],
    ['only what care has not changed', status({ '.': {}, ...item('EveryNodeReady', 'f:status', 'f:reason') }), false],
    ['the whole of an atomic list', status({}), true],
    ['nothing of a list that is merged', status({ '.': {} }), false],
    ['the spec', { 'f:spec': {} }, false],
    ['nothing', {}, false],
  ])('that owns %s', (_, fields, counts) => {
    expect(writer({ ...entry('gardenlet', 0), fieldsV1: fields }) !== undefined).toBe(counts);
  });

  const [recent, old] = [300_000, 301_000].map((ageMs) => formatTime(now - ageMs)) as [string, string];
  it.each([
    ['its status recently', 'f:lastTransitionTime', { lastTransitionTime: recent, lastUpdateTime: old }, true],
    ['its message recently', 'f:lastUpdateTime', { lastTransitionTime: old, lastUpdateTime: recent }, true],
    ['it longer ago', 'f:lastTransitionTime', { lastTransitionTime: old, lastUpdateTime: recent }, false],
    ['it at a time that cannot be read', 'f:lastUpdateTime', { lastTransitionTime: old, lastUpdateTime: 'x' }, false],
  ])('wrote %s, whenever it wrote other parts of the status', (_, field, stored, counts) => {
    expect(writerAt(stored, entry('gardenlet', 0, status(item('EveryNodeReady', field)))) !== undefined).toBe(counts);
  });

  it('has not written after the time of its entry, even if its clock said so', () => {
    const future = { lastTransitionTime: formatTime(now + 1e11), lastUpdateTime: formatTime(now + 1e11) };
    expect(writerAt(future, entry('gardenlet', 301_000, status(written('EveryNodeReady'))))).toBeUndefined();
  });

  it('is the latest of several', () => {
    const writers = [entry('a', 60_000), entry('b', 10_000), entry(own, 0), entry('c', 20_000)];
    expect(writer(...writers)).toBe('b');
  });

  it('is not read from malformed managedFields, which throw a DecodeError', () => {
    expect(() => writer('x')).toThrow(DecodeError);
  });
});
