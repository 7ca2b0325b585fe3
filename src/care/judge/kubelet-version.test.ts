import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kubeletVersionState } from './kubelet-version.ts';

describe('the version of a kubelet', () => {
  // Results of Masterminds/semver for the desired version 1.33.2.
  it.each([
    ['v1.33.2', 'fits'],
    ['1.33.2', 'fits'],
    ['v1.33.2+k3s1', 'fits'],
    ['v1.33.10', 'fits'],
    ['v1.32.1', 'fits'],
    ['v1.34.0', 'fits'],
    ['v2.33.1', 'fits'],
    ['v1.33.1', 'mismatch'],
    ['v1.33.0-rc.1', 'mismatch'],
    ['v1.33.2-gke.1', 'mismatch'],
    ['v1.33.3-alpha.0', 'fits'],
  ])('%s: %s', (kubelet, kind) => {
    expect(kubeletVersionState(kubelet, '1.33.2')).toEqual({ kind });
  });

  // The texts of errors are those of Masterminds/semver; it would read `v1.33` as a range.
  it.each([
    ['', 'improper constraint: "~ "'],
    ['unknown', 'improper constraint: "~ unknown"'],
    ['v1.33.2 (dirty)', 'improper constraint: "~ v1.33.2 (dirty)"'],
    ['v1.33', 'improper constraint: "~ v1.33"'],
    ['v1.33.2.1', 'improper constraint: "~ v1.33.2.1"'],
    ['v"1"', 'improper constraint: "~ v\\"1\\""'],
  ])('%j cannot be read', (kubelet, error) => {
    expect(kubeletVersionState(kubelet, '1.33.2')).toEqual({ kind: 'unreadable', error });
  });

  it.each([
    ['v1.33.2-rc.1', '1.33.2-rc.2', 'mismatch'],
    ['v1.33.2-rc.2', '1.33.2-rc.10', 'mismatch'],
    ['v1.33.2-rc.10', '1.33.2-rc.2', 'fits'],
    ['v1.33.2-1', '1.33.2-rc', 'mismatch'],
    ['v1.33.2-10a', '1.33.2-2', 'mismatch'],
    ['v1.33.2-10', '1.33.2-2b', 'mismatch'],
    ['v1.33.2-10', '1.33.2-a2', 'mismatch'],
    ['v1.33.2-rc', '1.33.2-rc.1', 'mismatch'],
    ['v1.33.2-rc.1', '1.33.2-rc', 'fits'],
    ['v1.33.2-rc.1', '1.33.2-beta.1', 'fits'],
    ['v1.33.2-rc.1', '1.33.2-rc.1', 'fits'],
    ['v1.33.1', '1.33.2-rc.1', 'fits'],
    ['v1.33.1', '', 'fits'],
  ])('%s against %j: %s', (kubelet, desired, kind) => {
    expect(kubeletVersionState(kubelet, desired)).toEqual({ kind });
  });

  it('never mismatches itself, and of two releases of a minor only the older one mismatches', () => {
    const number = fc.nat({ max: 1_000 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), number, number, number, (major, minor, a, b) => {
        const of = (patch: number) => `${major}.${minor}.${patch}`;
        expect(kubeletVersionState(`v${of(a)}`, of(b))).toEqual({ kind: a < b ? 'mismatch' : 'fits' });
      }),
    );
  });
});
