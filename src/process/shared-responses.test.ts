import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/index.ts';
import type { HttpResponse } from './http-server.ts';
import { shareResponses } from './shared-responses.ts';

const begin = (build: (key: string) => Promise<string> = async (key) => key) => {
  const clock = createVirtualClock();
  const built: string[] = [];
  const share = shareResponses(clock, async (key: string): Promise<HttpResponse> => {
    built.push(`${key} at ${String(clock.monotonic() - start)}`);
    return { status: 200, contentType: 'text/plain', body: await build(key) };
  });
  const start = clock.monotonic();
  return { clock, built, share };
};

describe('shared responses', () => {
  it('are built once for all who ask at the same time, and again a second later for all who ask meanwhile', async () => {
    const { clock, built, share } = begin();
    await Promise.all(Array.from({ length: 100 }, () => share('a')));
    expect(built).toEqual(['a at 0']);
    await clock.advance(400);
    const later = Promise.all(Array.from({ length: 100 }, () => share('a')));
    await clock.advance(599);
    expect(built).toEqual(['a at 0']);
    await clock.advance(1);
    expect((await later)[99]).toMatchObject({ body: 'a' });
    expect(built).toEqual(['a at 0', 'a at 1000']);
    await clock.advance(5_000);
    await share('a');
    expect(built).toEqual(['a at 0', 'a at 1000', 'a at 6000']);
  });

  it('are built one at a time', async () => {
    let [running, most] = [0, 0];
    const { share } = begin(async (key) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return key;
    });
    await Promise.all(['a', 'b', 'c'].map((key) => share(key)));
    expect(most).toBe(1);
  });

  it('take at most a twentieth of the time', async () => {
    const { clock, built, share } = begin(async (key) => {
      await clock.sleep(100, new AbortController().signal);
      return key;
    });
    const asked = ['a', 'b', 'c'].map((key) => share(key));
    await clock.advance(10_000);
    await Promise.all(asked);
    expect(built).toEqual(['a at 0', 'b at 2100', 'c at 4200']);
  });

  it('are of at most 16 kinds a second', async () => {
    const { clock, built, share } = begin();
    const ask = async (name: string): Promise<readonly number[]> => {
      const asked = Array.from({ length: 100 }, (_, index) => share(`${name}${String(index)}`));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    const statuses = await ask('a');
    expect(statuses.filter((status) => status === 200)).toHaveLength(16);
    expect(statuses.filter((status) => status === 503)).toHaveLength(84);
    expect(built).toHaveLength(16);
    await clock.advance(1_000);
    expect(await share('b')).toMatchObject({ status: 200 });
  });

  it('are built again after a failure, which all who asked see', async () => {
    let isBroken = true;
    const { clock, share } = begin(async (key) => {
      if (isBroken) throw new Error('oops');
      return key;
    });
    const asked = [share('a'), share('a')].map(async (one) => expect(one).rejects.toThrow('oops'));
    await Promise.all(asked);
    isBroken = false;
    await clock.advance(1_000);
    expect(await share('a')).toMatchObject({ body: 'a' });
  });
});
