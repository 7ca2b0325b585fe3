import { describe, expect, it } from 'vitest';
import { DecodeError } from '../kubernetes/api/decode.ts';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { otherConditionWriter } from './condition-writers.ts';

const now = Date.parse('2026-11-21T06:00:00Z');
const own = 'dependency-watchdog';
const item = (type: string) => ({ [`k:{"type":"${type}"}`]: { '.': {}, 'f:status': {} } });
const status = (conditions: unknown) => ({ 'f:status': { 'f:conditions': conditions } });

const entry = (manager: string, ageMs: number, fieldsV1: unknown = status(item('ControlPlaneHealthy'))) => ({
  manager,
  operation: 'Update',
  apiVersion: 'core.gardener.cloud/v1beta1',
  subresource: 'status',
  time: formatTime(now - ageMs),
  fieldsType: 'FieldsV1',
  fieldsV1,
});
const writer = (...managedFields: readonly unknown[]) =>
  otherConditionWriter({ name: 'one', managedFields }, { own, now });

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
    ['an owned type among others', status({ '.': {}, ...item('Theirs'), ...item('EveryNodeReady') }), true],
    ['a type of others', status({ '.': {}, ...item('Theirs') }), false],
    ['the whole of an atomic list', status({}), true],
    ['nothing of a list that is merged', status({ '.': {} }), false],
    ['the spec', { 'f:spec': {} }, false],
    ['nothing', {}, false],
  ])('that owns %s', (_, fields, counts) => {
    expect(writer({ ...entry('gardenlet', 0), fieldsV1: fields }) !== undefined).toBe(counts);
  });

  it('is the latest of several', () => {
    const writers = [entry('a', 60_000), entry('b', 10_000), entry(own, 0), entry('c', 20_000)];
    expect(writer(...writers)).toBe('b');
  });

  it('is not read from malformed managedFields, which throw a DecodeError', () => {
    expect(() => writer('x')).toThrow(DecodeError);
  });
});
