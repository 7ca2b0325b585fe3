import { describe, expect, it } from 'vitest';
import { createServerAddresses } from '../../simulator/harness/server-addresses.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import type { World } from '../../simulator/world/world.ts';

interface Shoot {
  readonly name: string;
  url: string;
}

/** Creates a world with shoots whose addresses can change, and counts how often all shoots are read. */
const worldOf = (entries: Shoot[]) => {
  let scans = 0;
  const shootOf = (entry: Shoot) => ({
    name: entry.name,
    api: { address: () => ({ url: entry.url }), publicAddress: { url: `${entry.name}.public` } },
  });
  const world = {
    get shoots() {
      scans += 1;
      return entries.map(shootOf) as unknown as readonly WorldShoot[];
    },
  } satisfies Pick<World, 'shoots'>;
  return { world, scans: () => scans };
};

describe('places', () => {
  it('are found by the address and by the public address, without reading all shoots each time', () => {
    const entries = Array.from({ length: 100 }, (_, index) => ({
      name: `s${String(index)}`,
      url: `u${String(index)}`,
    }));
    const { world, scans } = worldOf(entries);
    const placeOf = createServerAddresses(world);
    for (let round = 0; round < 3; round += 1) {
      for (const { name, url } of entries) {
        expect(placeOf(url)).toMatchObject({ shoot: { name }, isPublic: false });
        expect(placeOf(`${name}.public`)).toMatchObject({ shoot: { name }, isPublic: true });
      }
    }
    expect(scans()).toBeLessThanOrEqual(2);
  });

  it('follow a changed address, and include an added shoot', () => {
    const [first, second] = [
      { name: 'a', url: 'one' },
      { name: 'b', url: 'two' },
    ];
    const entries = [first, second];
    const placeOf = createServerAddresses(worldOf(entries).world);
    const nameAt = (url: string): string | undefined => placeOf(url)?.shoot.name;
    expect([nameAt('one'), nameAt('two'), nameAt('three')]).toEqual(['a', 'b', undefined]);
    first.url = 'three';
    expect([nameAt('one'), nameAt('two'), nameAt('three')]).toEqual([undefined, 'b', 'a']);
    second.url = 'one';
    expect([nameAt('one'), nameAt('two'), nameAt('three')]).toEqual(['b', undefined, 'a']);
    entries.push({ name: 'c', url: 'two' });
    expect([nameAt('one'), nameAt('two'), nameAt('c.public')]).toEqual(['b', 'c', 'c']);
  });

  it('belong to the first shoot of an address', () => {
    const entries = ['a', 'b', 'c'].map((name) => ({ name, url: 'same' }));
    expect(createServerAddresses(worldOf(entries).world)('same')?.shoot.name).toBe('a');
  });
});
