import type { World, WorldShoot } from '../world/index.ts';

/** A shoot's API server at one of its two addresses. */
export interface ServerAddress {
  readonly shoot: WorldShoot;
  /** True for the public address. */
  readonly isPublic: boolean;
}

export const urlOf = ({ shoot, isPublic }: ServerAddress): string =>
  isPublic ? shoot.api.publicAddress.url : shoot.api.address().url;

/**
 * Returns a function that finds the place at `scheme://host`. It caches the places of all shoots, but shoots are added and change their
 * addresses: it checks a cached place, and rebuilds the cache if the place is missing or outdated.
 */
export const createServerAddresses = (world: Pick<World, 'shoots'>): ((url: string) => ServerAddress | undefined) => {
  let places = new Map<string, ServerAddress>();
  return (url) => {
    const known = places.get(url);
    if (known !== undefined && urlOf(known) === url) return known;
    const all = [false, true].flatMap((isPublic) => world.shoots.map((shoot) => ({ shoot, isPublic })));
    // If several places have the same address, the first one counts.
    places = new Map(all.toReversed().map((place) => [urlOf(place), place]));
    return places.get(url);
  };
};
