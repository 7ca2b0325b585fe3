import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chooseSecret } from './lifecycle.ts';

const secret = (name: string, created: number, deleting = false) => ({ name, created, deleting });

it.each([
  ['the only one', [secret('a', 1)], 'a', []],
  ['the oldest', [secret('a', 2), secret('b', 1)], 'b', ['a']],
  ['the first by name of equally old ones', [secret('b', 1), secret('a', 1), secret('c', 1)], 'a', ['b', 'c']],
  ['one that is not being deleted', [secret('a', 1, true), secret('b', 2)], 'b', []],
  ['one that is being deleted if all are', [secret('b', 2, true), secret('a', 1, true)], 'a', []],
] as const)('chooses %s', (_, secrets, name, others) => {
  expect(chooseSecret(secrets)).toEqual({ secret: secrets.find((one) => one.name === name), others });
});

it('chooses none if there is none', () => {
  expect(chooseSecret([])).toBeUndefined();
});

it('chooses the same Secret in any order of the list', () => {
  const secrets = fc.uniqueArray(
    fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), created: fc.nat(2), deleting: fc.boolean() }),
    { selector: ({ name }) => name },
  );
  fc.assert(
    fc.property(
      secrets.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([all, shuffled]) => {
        expect(chooseSecret(shuffled)).toEqual(chooseSecret(all));
      },
    ),
  );
});
