import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('come-and-go.ts', import.meta.url));
const hundreds = 12;
/** Allowed growth of the heap per shoot between 200 shoots and the last: more than compiled code and caches of the simulation take. */
const mostBytesPerShoot = 2_000;

describe('after shoots have been created and deleted', () => {
  it.each(['prober', 'weeder'])('a %s keeps no memory for them', { timeout: 180_000 }, async (component) => {
    const args = ['--expose-gc', script, component, String(hundreds)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const heap = stdout.trim().split('\n').map(Number);
    expect(heap).toHaveLength(hundreds);
    const [early = 0, late = 0] = [heap[1], heap.at(-1)];
    expect((late - early) / (100 * (hundreds - 2))).toBeLessThan(mostBytesPerShoot);
  });
});
