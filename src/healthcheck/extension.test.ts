import { describe, expect, it } from 'vitest';
import {
  decodeExtension,
  getCluster,
  getExtension,
  isLeaving,
  listExtensions,
  patchConditions,
  storedConditions,
} from './extension.ts';

const metadata = { name: 'one', namespace: 'shoot--dev--one', uid: 'u', resourceVersion: '7' };
const extension = (options: { metadata?: object; status?: object; spec?: object } = {}) =>
  decodeExtension(
    { metadata: { ...metadata, ...options.metadata }, spec: options.spec, status: options.status },
    'extension',
  );

describe('an extension object that is left alone', () => {
  it.each([
    ['an ordinary one', {}, false],
    ['being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, true],
    ['to be migrated', { metadata: { annotations: { 'gardener.cloud/operation': 'migrate' } } }, true],
    ['migrated', { status: { lastOperation: { type: 'Migrate', state: 'Succeeded' } } }, true],
    ['whose deletion failed', { status: { lastOperation: { type: 'Delete', state: 'Error' } } }, false],
  ])('%s: %s', (_, options, leaving) => {
    expect(isLeaving(extension(options))).toBe(leaving);
  });
});

describe('an extension object', () => {
  it('is read with its type and its conditions', () => {
    const conditions = [{ type: 'A', status: 'True', extra: 1 }];
    const read = extension({ spec: { type: 'aws' }, status: { conditions } });
    expect(read).toMatchObject({ type: 'aws', conditions: [{ type: 'A', status: 'True' }] });
    expect(read.conditions[0]).not.toHaveProperty('extra');
    expect(storedConditions(read)).toEqual(conditions);
  });

  it.each(['garden', 'seed', 'shoot', 'later'])('is read with its class %s', (name) => {
    expect(extension({ spec: { class: name } }).class).toBe(name);
  });

  it('without spec and status has no type and no conditions', () => {
    expect(extension()).toMatchObject({ type: '', class: 'shoot', conditions: [] });
    expect(storedConditions(extension())).toEqual([]);
  });
});

describe('the control plane', () => {
  const entry = (name: string) => decodeExtension({ metadata: { name } }, 'extension').controlPlane;

  it('is the namespace of the object, or part of its name if it has no namespace', () => {
    expect(extension().controlPlane).toBe('shoot--dev--one');
    expect(entry('shoot--dev--one--2f1d-4a')).toBe('shoot--dev--one');
    expect(entry('source-shoot--dev--one--2f1d-4a')).toBe('shoot--dev--one');
    expect(entry('--2f1d')).toBe('--2f1d');
    expect(entry('one--')).toBe('one--');
    expect(entry('shoot-dev-one--2f1d-4a')).toBe('shoot-dev-one');
    expect(entry('odd')).toBe('odd');
  });
});

describe('the calls', () => {
  const group = '/apis/extensions.gardener.cloud/v1alpha1';

  it('have these paths', () => {
    expect(listExtensions('ControlPlane').path).toBe(`${group}/controlplanes`);
    expect(getExtension('DNSRecord', extension()).path).toBe(`${group}/namespaces/shoot--dev--one/dnsrecords/one`);
    const entry = decodeExtension({ metadata: { name: 'shoot--dev--one--2f1d' } }, 'extension');
    expect(getExtension('BackupEntry', entry).path).toBe(`${group}/backupentries/shoot--dev--one--2f1d`);
    expect(patchConditions('BackupEntry', entry, []).path).toBe(`${group}/backupentries/shoot--dev--one--2f1d/status`);
    expect(getCluster('shoot--dev--one').path).toBe(`${group}/clusters/shoot--dev--one`);
  });

  it('write the conditions in the status, with the resourceVersion that was read', () => {
    expect(patchConditions('Worker', extension(), [{ type: 'A' }])).toMatchObject({
      method: 'PATCH',
      path: `${group}/namespaces/shoot--dev--one/workers/one/status`,
      contentType: 'application/merge-patch+json',
      repeatable: true,
      body: { metadata: { resourceVersion: '7' }, status: { conditions: [{ type: 'A' }] } },
    });
  });
});
