import { describe, expect, it } from 'vitest';
import { DecodeError } from './decode.ts';
import { decodeEndpointSlice } from './endpoint-slice.ts';

const slice = (endpoints: unknown, labels: object = { 'kubernetes.io/service-name': 'etcd' }) => ({
  metadata: { name: 'etcd-abcde', namespace: 'ns', labels },
  addressType: 'IPv4',
  endpoints,
});

describe('decodeEndpointSlice', () => {
  it.each([
    ['no list', undefined, false],
    ['null, as Go writes an empty list', null, false],
    ['an empty list', [], false],
    ['ready', [{ conditions: { ready: true } }], true],
    ['not ready', [{ conditions: { ready: false } }], false],
    ['ready absent', [{ conditions: {} }], true],
    ['conditions absent', [{ addresses: ['10.0.0.1'] }], true],
    ['ready null', [{ conditions: { ready: null } }], true],
    ['ready and terminating', [{ conditions: { ready: true, terminating: true } }], false],
    ['ready absent and terminating', [{ conditions: { terminating: true } }], false],
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

  it('returns an empty service without the label', () => {
    expect(decodeEndpointSlice(slice([], {}), 'slice').service).toBe('');
  });

  it.each([
    ['endpoints', { ...slice(undefined), endpoints: {} }, 'slice.endpoints'],
    ['an endpoint', slice(['x']), 'slice.endpoints[0]'],
    ['ready', slice([{ conditions: { ready: 'true' } }]), 'slice.endpoints[0].conditions.ready'],
  ])('refuses %s of another type', (_, json, path) => {
    const decode = () => decodeEndpointSlice(json, 'slice');
    expect(decode).toThrow(DecodeError);
    expect(decode).toThrow(path);
  });
});
