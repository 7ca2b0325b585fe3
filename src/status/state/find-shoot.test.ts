import { expect, it } from 'vitest';
import { findShoot, noSuchShoot } from './find-shoot.ts';

const shoots = [
  { namespace: 'shoot--dev--one', project: 'dev', name: 'one' },
  { namespace: 'shoot--dev-2--one', project: 'dev-2', name: 'one' },
  { namespace: 'alone', name: 'alone' },
];

it.each([
  ['shoot--dev--one', 'shoot--dev--one'],
  ['dev/one', 'shoot--dev--one'],
  ['garden-dev/one', 'shoot--dev--one'],
  ['dev-2/one', 'shoot--dev-2--one'],
  ['alone', 'alone'],
  ['shoot--dev', undefined],
  ['one', undefined],
  ['dev/two', undefined],
])('%s is %j', (wanted, found) => {
  expect(findShoot(shoots, wanted)?.namespace).toBe(found);
});

it.each([
  ['dev/onne', 'did you mean dev/one (shoot--dev--one)?'],
  ['shoot--dev--onee', 'did you mean dev/one (shoot--dev--one)?'],
  ['one', 'did you mean dev/one (shoot--dev--one)?'],
  ['garden-dev/onne', 'did you mean dev/one (shoot--dev--one)?'],
  ['nothing/like-it', 'this seed, which has 3'],
])('of %s it says that there is none: %s', (wanted, hint) => {
  expect(noSuchShoot(wanted, shoots)).toContain(hint);
});
