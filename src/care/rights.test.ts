import { expect, it } from 'vitest';
import { formatRight } from '../kubernetes/api/access.ts';
import { rightsOf } from '../process/rights/grants.ts';
import { careConfig } from './config.ts';
import { careGrants } from './rights.ts';

it('care needs the rights to list and watch its kinds, and Secrets only by their name', () => {
  const { settings } = careConfig.load('kubeConfigSecretName: shoot-access', { unknownFields: 'error' });
  if (settings === undefined) throw new Error('not valid');
  const needed = rightsOf(careGrants(settings));
  expect(new Set(needed.map(({ right }) => right.verb))).toEqual(new Set(['list', 'watch']));
  const lists = needed.filter(({ right }) => right.verb === 'list').map(({ right }) => formatRight(right));
  expect(lists).toContain('list resource "secrets" "shoot-access" in API group "" at the cluster scope');
  expect(lists).toContain(
    'list resource "backupentries" in API group "extensions.gardener.cloud" at the cluster scope',
  );
  expect(lists).toHaveLength(16);
  expect(new Set(lists).size).toBe(lists.length);
});
