import { expect, it } from 'vitest';
import { type ResourcePlace, resourcePath } from './resource-path.ts';

const pods = { apiVersion: 'v1', resource: 'pods' };
const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases' };

it.each<[ResourcePlace, string]>([
  [pods, '/api/v1/pods'],
  [{ ...pods, namespace: 'garden' }, '/api/v1/namespaces/garden/pods'],
  [{ ...pods, namespace: 'garden', name: 'one' }, '/api/v1/namespaces/garden/pods/one'],
  [{ ...leases, namespace: 'garden', name: 'one' }, '/apis/coordination.k8s.io/v1/namespaces/garden/leases/one'],
  [{ apiVersion: 'v1', resource: 'nodes', name: 'one' }, '/api/v1/nodes/one'],
  [{ ...pods, namespace: '../a', name: 'b/c?d' }, '/api/v1/namespaces/..%2Fa/pods/b%2Fc%3Fd'],
])('the path of %j', (place, path) => {
  expect(resourcePath(place)).toBe(path);
});
