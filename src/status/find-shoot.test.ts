import { expect, it } from 'vitest';
import { findWanted } from './find-shoot.ts';

const shoots = [
  { namespace: 'shoot--dev--one', project: 'dev', name: 'one' },
  { namespace: 'fleet/one', project: 'fleet', name: 'one' },
  { namespace: 'fleet/two', project: 'fleet', name: 'two' },
  { namespace: 'fleet-2/one', project: 'fleet-2', name: 'one' },
];

it.each([
  ['shoot--dev--one', ['shoot--dev--one']],
  ['dev/one', ['shoot--dev--one']],
  ['garden-dev/one', ['shoot--dev--one']],
  ['fleet', ['fleet/one', 'fleet/two']],
  ['fleet/two', ['fleet/two']],
  ['flee', []],
  ['fleet/three', []],
])('%s is %j', (wanted, found) => {
  expect(findWanted(shoots, wanted).map(({ namespace }) => namespace)).toEqual(found);
});
