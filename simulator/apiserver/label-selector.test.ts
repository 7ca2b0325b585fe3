import { expect, it } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const labels = { app: 'kubernetes', role: 'scheduler', empty: '' };

/** The semantics of `Requirement.Matches` (apimachinery `pkg/labels/selector.go`): an absent label satisfies `!=` and `notin`. */
it.each([
  ['', true],
  ['app=kubernetes', true],
  ['app==etcd', false],
  ['app=kubernetes,role=main', false],
  ['absent=', false],
  ['empty=', true],
  ['constructor=Object', false],
  ['role in (main,scheduler)', true],
  ['role in (main)', false],
  ['absent in (,main)', false],
  ['role!=main', true],
  ['role notin (main, scheduler)', false],
  ['absent notin (main)', true],
  ['empty notin (,main)', false],
  ['empty', true],
  ['toString', false],
  ['!empty', false],
  ['!absent', true],
  ['!hasOwnProperty', true],
])('the label selector %j: %j', (selector, expected) => {
  expect(parseLabelSelector(selector)(labels)).toBe(expected);
});
