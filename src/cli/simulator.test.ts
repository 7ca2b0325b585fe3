import { describe, expect, it } from 'vitest';
import { loadSimulator } from './simulator.ts';
import { dwdWith } from './testing/dwd.ts';

/** An error as the simulator's bundle throws it, which has its own copies of our error classes. */
const foreign = (name: string): Error =>
  Object.assign(new Error('it does not work'), { name, details: ['more'], exitCode: 1 });

const demo = (error: Error) => dwdWith(async () => 7, ['demo'], { runDemo: () => Promise.reject(error) });

describe('the simulator', () => {
  it('fails with a message if its bundle is not installed', async () => {
    await expect(loadSimulator(new URL('none.js', import.meta.url))).rejects.toMatchObject({
      name: 'CommandError',
      message: 'the simulator is not part of the image; the npm package has it',
    });
  });

  it('is loaded from the file named', async () => {
    expect(await loadSimulator(new URL('simulator.ts', import.meta.url))).toHaveProperty('loadSimulator');
  });

  it('ends a command like the program itself: with 1 and the message, or with 2 and the usage', async () => {
    expect(await demo(foreign('CommandError'))).toMatchObject({
      code: 1,
      stderr: 'dwd demo: it does not work\nmore\n',
    });
    const { code, stderr } = await demo(foreign('UsageError'));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'dwd demo: it does not work\n\nUsage: dwd demo [flags]\nRun "dwd help demo" for more.\n',
    });
  });

  it('does not hide a bug', async () => {
    await expect(demo(foreign('TypeError'))).rejects.toThrow('it does not work');
  });
});
