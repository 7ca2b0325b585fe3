import { describe, expect, it } from 'vitest';
import { buildLease } from '../../../test/doubles/builders.ts';
import { decodeLease, expiryByTimestampMs } from './lease.ts';
import { podOfHolder } from './pod-of-holder.ts';

const origin = Date.parse('2026-11-21T06:00:00Z');

describe('decodeLease', () => {
  it.each([
    ['microseconds', '2026-11-21T06:00:00.123456Z', origin * 1_000 + 123_456],
    ['null', null, undefined],
    ['nothing', undefined, undefined],
    ['an empty text', '', undefined],
  ])('reads %s', (_, renewTime, read) => {
    const json = buildLease({ name: 'node-1', ...(renewTime === undefined ? {} : { renewTime }) });
    expect(decodeLease(json, 'items[0]').renewTime).toBe(read);
  });

  it('reads a lease without spec', () => {
    expect(decodeLease({ metadata: { name: 'node-1' } }, 'items[0]')).toEqual({ name: 'node-1' });
  });

  it('takes the stamp of the latest change of renewTime, by any manager', () => {
    const owner = (time: string, field: string) => ({ time, fieldsV1: { 'f:spec': { [field]: {} } } });
    const stampOf = (...managedFields: readonly unknown[]) =>
      decodeLease({ metadata: { name: 'a', managedFields } }, 'items[0]').stampedAt;
    const renewed = owner('2026-11-21T06:00:10Z', 'f:renewTime');
    expect(stampOf()).toBeUndefined();
    expect(stampOf({}, owner('2026-11-21T06:00:30Z', 'f:holderIdentity'))).toBeUndefined();
    expect(stampOf(renewed, owner('2026-11-21T06:00:00Z', 'f:renewTime'))).toBe((origin + 10_000) * 1_000);
  });

  it.each([
    [{ metadata: { name: 'a' }, spec: { renewTime: 'yesterday' } }, 'items[0].spec.renewTime: expected a time'],
    [{ metadata: { name: 'a' }, spec: { renewTime: 17 } }, 'items[0].spec.renewTime: expected a string'],
    [{ metadata: { name: 'a', managedFields: [1] } }, 'metadata.managedFields: expected an object'],
  ])('refuses %j', (json, problem) => {
    expect(() => decodeLease(json, 'items[0]')).toThrow(problem);
  });
});

describe('a lease, by its own timestamp,', () => {
  const renewTime = '2026-01-01T00:00:00.500000Z';

  it.each([
    [{ renewTime, leaseDurationSeconds: 40 }, Date.parse('2026-01-01T00:00:40.5Z')],
    [{ renewTime: '2026-01-01T00:00:00Z' }, Date.parse('2026-01-01T00:00:00Z')],
    [{ leaseDurationSeconds: 40 }, Number.NEGATIVE_INFINITY],
  ])('%j expires', (spec, expiresAt) => {
    expect(expiryByTimestampMs(decodeLease({ metadata: { name: 'a' }, spec }, 'lease'))).toBe(expiresAt);
  });
});

it.each([
  ['ours', 'dependency-watchdog-prober-5b4886dfd7-gtxb7_4f3a9c21b07e', 'dependency-watchdog-prober-5b4886dfd7-gtxb7'],
  ['of the Go program', 'prober-0_1f4bd0c2-6d4f-4a0e-9d1c-0a4b9f6e2c11', 'prober-0'],
  ['without a suffix', 'prober-0', 'prober-0'],
  ['of a host whose name has an underscore', 'my_host_4f3a9c21b07e', 'my_host'],
  ['nobody', '', ''],
])('the holder of an election Lease, %s, names its pod', (_, holder, pod) => {
  expect(podOfHolder(holder)).toBe(pod);
});
