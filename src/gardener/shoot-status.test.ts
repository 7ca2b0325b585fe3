import { expect, it } from 'vitest';
import { newCondition } from './condition.ts';
import { type StatusLabel, decodeLastOperation, shootLabelChange, shootStatus } from './shoot-status.ts';

const conditions = (...statuses: readonly string[]) => statuses.map((status) => ({ ...newCondition('X', 0), status }));
const progress = (operation: string | undefined, hasLastErrors = false) => {
  if (operation === undefined) return { hasLastErrors };
  const [type = '', state = ''] = operation.split(' ');
  return { lastOperation: { type, state, lastUpdateTime: '' }, hasLastErrors };
};

const rows: readonly (readonly [string | undefined, boolean, readonly string[], StatusLabel])[] = [
  [undefined, false, ['False'], 'healthy'],
  ['Create Processing', false, ['False'], 'healthy'],
  ['Create Processing', true, ['True'], 'unhealthy'],
  ['Create Succeeded', false, ['False'], 'unhealthy'],
  ['Delete Processing', false, ['False'], 'healthy'],
  ['Delete Error', true, ['True'], 'unhealthy'],
  ['Reconcile Processing', true, ['True'], 'unhealthy'],
  ['Reconcile Processing', false, ['Progressing'], 'progressing'],
  ['Reconcile Processing', false, ['Unknown'], 'unknown'],
  ['Reconcile Succeeded', false, ['True'], 'healthy'],
  ['Reconcile Succeeded', false, ['True', 'Progressing'], 'progressing'],
  ['Reconcile Succeeded', false, ['Progressing', 'Unknown', 'True'], 'unknown'],
  ['Reconcile Succeeded', false, ['Progressing', 'Unknown', 'False'], 'unhealthy'],
  ['Reconcile Succeeded', false, ['Foo', 'True'], 'unhealthy'],
  ['Reconcile Error', false, ['True'], 'unhealthy'],
];

it.each(rows)(
  'the status label of a Shoot: %s, errors %s, conditions %j: %s',
  (operation, hasLastErrors, statuses, status) => {
    expect(shootStatus(conditions(...statuses), progress(operation, hasLastErrors))).toBe(status);
  },
);

const [label, former] = ['shoot.gardener.cloud/status', 'shoot.garden.sapcloud.io/status'] as const;

it.each<[object, StatusLabel, object]>([
  [{}, 'healthy', { [label]: 'healthy', [former]: 'healthy' }],
  [{ [label]: 'healthy', [former]: 'healthy', other: 'x' }, 'healthy', {}],
  [{ [label]: 'unhealthy', [former]: 'healthy' }, 'unhealthy', { [former]: 'unhealthy' }],
])('the labels of a Shoot: %j of one that is %s: %j', (labels, status, change) => {
  expect(shootLabelChange(labels as Readonly<Record<string, string>>, status)).toEqual(change);
});

it('the last operation is read with missing fields empty', () => {
  const lastOperation = { type: 'Create', state: 'Processing', progress: 10 };
  expect(decodeLastOperation({ lastOperation }, 'status')).toEqual({
    type: 'Create',
    state: 'Processing',
    lastUpdateTime: '',
  });
  expect(decodeLastOperation({ lastOperation: null }, 'status')).toBeUndefined();
});
