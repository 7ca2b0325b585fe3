import { expect, it } from 'vitest';
import { loadSimulator } from './simulator.ts';

it('the simulator is loaded from its file; without one, a message says where it is', async () => {
  expect(await loadSimulator(new URL('simulator.ts', import.meta.url))).toHaveProperty('loadSimulator');
  await expect(loadSimulator(new URL('none.js', import.meta.url))).rejects.toMatchObject({
    name: 'CommandError',
    message: 'the simulator is not part of the image; the npm package has it',
  });
});
