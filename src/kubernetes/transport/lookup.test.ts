import type { LookupAddress } from 'node:dns';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { shareLookups } from './lookup.ts';

/** DNS whose answers the test gives, and what those who wait for `host` have got so far. */
const createBench = () => {
  const clock = createVirtualClock();
  const asked: { readonly host: string; readonly answer: PromiseWithResolvers<LookupAddress[]> }[] = [];
  const lookup = shareLookups((host) => {
    const answer = Promise.withResolvers<LookupAddress[]>();
    asked.push({ host, answer });
    return answer.promise;
  });
  const got: unknown[] = [];
  return {
    clock,
    got,
    hosts: () => asked.map(({ host }) => host),
    find: (host: string): void =>
      void lookup(host, clock).then(
        ([found]) => got.push(found?.address),
        (error: unknown) => got.push((error as NodeJS.ErrnoException).code),
      ),
    /** Answers the latest lookup: with an address, or an error's code. */
    answer: async (what: string): Promise<void> => {
      const { answer } = asked.at(-1)!;
      if (/^\d/.test(what)) answer.resolve([{ address: what, family: 4 }]);
      else answer.reject(Object.assign(new Error(what), { code: what }));
      await setImmediate();
    },
  };
};

describe('lookups of host names', () => {
  it('all who wait for a name share one lookup, and the next connection asks again', async () => {
    const { find, answer, got, hosts, clock } = createBench();
    find('a');
    find('a');
    find('b');
    expect(hosts()).toEqual(['a', 'b']);
    await answer('10.0.0.2');
    find('b');
    await answer('10.0.0.3');
    expect({ got, hosts: hosts() }).toEqual({ got: ['10.0.0.2', '10.0.0.3'], hosts: ['a', 'b', 'b'] });
    expect(clock.pending).toBe(1);
  });

  it('use the last addresses after a second without an answer, and the answer when it comes', async () => {
    const { find, answer, got, hosts, clock } = createBench();
    find('a');
    await clock.advance(20_000);
    await answer('10.0.0.1');
    find('a');
    await clock.advance(999);
    expect(got).toEqual(['10.0.0.1']);
    await clock.advance(1);
    find('a');
    await clock.settle();
    expect({ got, hosts: hosts() }).toEqual({ got: ['10.0.0.1', '10.0.0.1', '10.0.0.1'], hosts: ['a', 'a'] });
    await answer('10.0.0.2');
    find('a');
    await clock.advance(1_000);
    expect({ got: got.at(-1), hosts: hosts().length }).toEqual({ got: '10.0.0.2', hosts: 3 });
  });

  it.each([
    ['EAI_AGAIN', '10.0.0.1', '10.0.0.1'],
    ['ENOTFOUND', 'ENOTFOUND', 'EAI_AGAIN'],
  ])('after the failure %s of a known name: %s, then, without DNS, %s', async (code, first, second) => {
    const { find, answer, got } = createBench();
    for (const what of ['EAI_AGAIN', '10.0.0.1', code, 'EAI_AGAIN']) {
      find('a');
      await answer(what);
    }
    expect(got).toEqual(['EAI_AGAIN', '10.0.0.1', first, second]);
  });
});
