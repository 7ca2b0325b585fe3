import { expect, it } from 'vitest';
import { decodeExtension, decodeHibernation, isLeaving } from './extension.ts';

const extension = (metadata: object, status = {}) =>
  decodeExtension({ metadata: { name: 'one', namespace: 'shoot--dev--one', ...metadata }, status }, 'extension');

it.each([
  ['an ordinary one', {}, {}, false],
  ['being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }, {}, true],
  ['to be migrated', { annotations: { 'gardener.cloud/operation': 'migrate' } }, {}, true],
  ['migrated', {}, { lastOperation: { type: 'Migrate', state: 'Succeeded' } }, true],
  ['whose deletion failed', {}, { lastOperation: { type: 'Delete', state: 'Error' } }, false],
])('an extension object is left alone, %s: %j %j %s', (_, metadata, status, leaving) => {
  expect(isLeaving(extension(metadata, status))).toBe(leaving);
});

it.each([
  ['shoot--dev--one--2f1d-4a', 'shoot--dev--one'],
  ['source-shoot--dev--one--2f1d-4a', 'shoot--dev--one'],
  ['--2f1d', '--2f1d'],
  ['one--', 'one--'],
  ['shoot-dev-one--2f1d-4a', 'shoot-dev-one'],
  ['odd', 'odd'],
])('an object without a namespace, %s, belongs to the control plane %s', (name, controlPlane) => {
  expect(extension({ name, namespace: '' }).controlPlane).toBe(controlPlane);
});

it.each([
  [{ spec: { hibernation: { enabled: true } } }, true],
  [{ spec: {}, status: { hibernated: true } }, false],
  [undefined, false],
])('the Shoot %j in a Cluster is hibernated: %s', (shoot, hibernated) => {
  expect(decodeHibernation({ metadata: { name: 'shoot--dev--one' }, spec: { shoot } }, 'cluster')).toBe(hibernated);
});
