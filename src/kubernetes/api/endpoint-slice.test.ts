import { describe, expect, it } from 'vitest';
import { decodeEndpointSlice } from './endpoint-slice.ts';

const slice = (endpoints: unknown, labels: object = { 'kubernetes.io/service-name': 'etcd' }) => ({
  metadata: { name: 'etcd-abcde', namespace: 'ns', labels },
  addressType: 'IPv4',
  endpoints,
});

describe('decodeEndpointSlice', () => {
  it.each([
    ['null, as Go writes an empty list', null, false],
    ['ready', [{ conditions: { ready: true } }], true],
    ['not ready', [{ conditions: { ready: false } }], false],
    ['conditions absent', [{ addresses: ['10.0.0.1'] }], true],
    ['ready null', [{ conditions: { ready: null } }], true],
    ['ready and terminating', [{ conditions: { ready: true, terminating: true } }], false],
    ['serving but not ready', [{ conditions: { ready: false, serving: true } }], false],
    ['one of several', [{ conditions: { ready: false } }, { conditions: { ready: true, terminating: false } }], true],
  ])('endpoints: %s', (_, endpoints, ready) => {
    expect(decodeEndpointSlice(slice(endpoints), 'slice')).toEqual({
      namespace: 'ns',
      service: 'etcd',
      mirrored: false,
      ready,
    });
  });

  it.each([
    ['endpointslicemirroring-controller.k8s.io', true],
    ['endpointslice-controller.k8s.io', false],
  ])('is mirrored if managed by %s: %s', (manager, mirrored) => {
    const labels = { 'endpointslice.kubernetes.io/managed-by': manager };
    expect(decodeEndpointSlice(slice([], labels), 'slice').mirrored).toBe(mirrored);
  });
});
