import { expect, it } from 'vitest';
import { goAge } from './go-time.ts';

const now = Date.parse('2026-01-01T12:00:00Z');

it.each([
  ['2026-01-01T12:00:00Z', '0s', '2026-01-01 12:00:00 +0000 UTC'],
  ['2026-01-01T11:59:31Z', '0s', '2026-01-01 12:00:00 +0000 UTC'],
  ['2026-01-01T11:59:30Z', '1m0s', '2026-01-01 12:00:00 +0000 UTC'],
  ['2026-01-01T11:54:29.999Z', '6m0s', '2026-01-01 11:54:00 +0000 UTC'],
  ['2026-01-01T10:30:00Z', '1h30m0s', '2026-01-01 10:30:00 +0000 UTC'],
  ['2025-12-30T12:00:00Z', '48h0m0s', '2025-12-30 12:00:00 +0000 UTC'],
])('an age as Go prints it: %s: %s', (at, age, time) => {
  expect(goAge(Date.parse(at), now)).toEqual({ age, time });
});
