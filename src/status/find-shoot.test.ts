import { expect, it } from 'vitest';
import { findWanted } from './find-shoot.ts';

const shoots = [
  { namespace: 'shoot--dev--one', project: 'dev', name: 'one' },
  { namespace: 'shoot--dev-2--one', project: 'dev-2', name: 'one' },
];

it.each([
  ['shoot--dev--one', ['shoot--dev--one']],
  ['dev/one', ['shoot--dev--one']],
  ['garden-dev/one', ['shoot--dev--one']],
  ['shoot--dev', []],
  ['dev/two', []],
])('%s is %j', (wanted, found) => {
  expect(findWanted(shoots, wanted).map(({ namespace }) => namespace)).toEqual(found);
});
