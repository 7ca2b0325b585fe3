import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPause, formatPause, inForce, pausedAnnotation } from './pause.ts';

const until = Date.parse('2026-11-23T14:00:00Z');
const text = '{"until":"2026-11-23T14:00:00Z","reason":"LB maintenance","by":"kim, dwd 4.0.0"}';

it('a pause is one line of JSON', () => {
  expect(formatPause({ until, reason: 'LB maintenance', by: 'kim, dwd 4.0.0' })).toBe(text);
  expect(formatPause({ reason: 'drill', by: 'kim' })).toBe('{"reason":"drill","by":"kim"}');
});

describe('the pause of an object', () => {
  it('is undefined without the annotation', () => {
    expect(findPause({})).toBeUndefined();
    expect(findPause({ 'dependency-watchdog.gardener.cloud/held': '{}' })).toBeUndefined();
  });

  it('may be any JSON object, as kubectl annotate may write it', () => {
    expect(findPause({ [pausedAnnotation]: '{"until": null, "other": 1}' })).toEqual({ reason: '', by: '' });
  });

  it.each(['Z', '+00:00', '.25Z', '-01:30'])('ends at an instant of RFC 3339: %s', (zone) => {
    const given = `2026-11-23T14:00:00${zone}`;
    expect(findPause({ [pausedAnnotation]: JSON.stringify({ until: given }) })?.until).toBe(Date.parse(given));
  });

  it.each(['', '2026', '2026-11-23 14:00:00', '2026-11-23T14:00:00', '2026-13-23T14:00:00Z'])(
    'until %j cannot be read',
    (given) => {
      expect(findPause({ [pausedAnnotation]: JSON.stringify({ until: given }) })?.problem).toMatch(
        /^until: expected a time such as 2026-01-01T00:00:00Z/,
      );
    },
  );

  it.each([
    ['', 'it is not JSON'],
    ['true', 'it: expected an object, found a boolean'],
    ['[]', 'it: expected an object, found a list'],
    ['{"reason": 1}', 'reason: expected a string, found a number'],
    ['{"until": 1763906400}', 'until: expected a string, found a number'],
    [`{"reason": "${'x'.repeat(9_000)}"}`, 'it is too long'],
  ])('%j cannot be read, and is in force all the same', (given, problem) => {
    const found = findPause({ [pausedAnnotation]: given });
    expect(found).toMatchObject({ by: '', problem });
    expect(inForce(found, Number.MAX_SAFE_INTEGER)).toBe(found);
  });

  it('has no control characters, and long texts are cut', () => {
    const reason = `a\u001b[31m\nb\u202e${'c'.repeat(2_000)}`;
    const found = findPause({ [pausedAnnotation]: JSON.stringify({ reason }) });
    expect(found?.reason).toMatch(/^a \[31m b c+\.\.\.$/);
    expect(found?.reason).toHaveLength(1_000);
  });

  it('exists for any text of the annotation', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (given) => {
        expect(findPause({ [pausedAnnotation]: given })).toBeDefined();
      }),
    );
  });

  it('is read back as it was written, to the second', () => {
    const plain = fc.stringMatching(/^[a-z][a-z ":{}\\]{0,40}[a-z]$/);
    const seconds = fc.integer({ min: 0, max: 253_402_300_799 });
    fc.assert(
      fc.property(plain, plain, fc.option(seconds, { nil: undefined }), (reason, by, second) => {
        const pause = { reason, by, ...(second === undefined ? {} : { until: second * 1_000 }) };
        expect(findPause({ [pausedAnnotation]: formatPause(pause) })).toEqual(pause);
      }),
    );
  });
});

it('is in force until it ends', () => {
  const pause = { until, reason: 'r', by: 'b' };
  expect([until - 1, until, until + 1].map((now) => inForce(pause, now))).toEqual([pause, undefined, undefined]);
  expect(inForce({ reason: 'r', by: 'b' }, until)).toBeDefined();
});
