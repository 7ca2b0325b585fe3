import { expect, it } from 'vitest';
import { kubeletVersionState } from './kubelet-version.ts';

// Verdicts of Masterminds/semver 3.5.0, except that it reads `v1.33` as a range.
it.each([
  ['v1.33.2', '1.33.2', 'fits'],
  ['1.33.2+k3s1', '1.33.2', 'fits'],
  ['v1.33.10', '1.33.2', 'fits'],
  ['v1.32.1', '1.33.2', 'fits'],
  ['v2.33.1', '1.33.2', 'fits'],
  ['v1.33.1', '1.33.2', 'mismatch'],
  ['v1.33.9', '1.33.10', 'mismatch'],
  ['v1.33.2-gke.1', '1.33.2', 'mismatch'],
  ['v1.33.3-alpha.0', '1.33.2', 'fits'],
  ['', '1.33.2', 'unreadable'],
  ['v1.33.2 (dirty)', '1.33.2', 'unreadable'],
  ['v1.33', '1.33.2', 'unreadable'],
  ['v1.33.2.1', '1.33.2', 'unreadable'],
  ['v1.33.2-rc.1', '1.33.2-rc.2', 'mismatch'],
  ['v1.33.2-rc.2', '1.33.2-rc.10', 'mismatch'],
  ['v1.33.2-rc.10', '1.33.2-rc.2', 'fits'],
  ['v1.33.2-1', '1.33.2-rc', 'mismatch'],
  ['v1.33.2-10a', '1.33.2-2', 'fits'],
  ['v1.33.2-2', '1.33.2-10a', 'mismatch'],
  ['v1.33.2-10', '1.33.2-2b', 'mismatch'],
  ['v1.33.2-10', '1.33.2-a2', 'mismatch'],
  ['v1.33.2-rc', '1.33.2-rc.1', 'mismatch'],
  ['v1.33.2-rc.1', '1.33.2-rc', 'fits'],
  ['v1.33.2-rc.1', '1.33.2-rc.1', 'fits'],
  ['v1.33.1', '1.33.2-rc.1', 'fits'],
  ['v1.33.1', '', 'fits'],
])('the kubelet %j in a pool of %j: %s', (kubelet, desired, state) => {
  expect(kubeletVersionState(kubelet, desired)).toBe(state);
});
