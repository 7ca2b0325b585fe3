import type { World, WorldShoot } from '../world/index.ts';

/** Where a shoot's API server is found. */
export interface ServerPlace {
  readonly shoot: WorldShoot;
  /** By its public way. */
  readonly isOutside: boolean;
}

export const urlOf = ({ shoot, isOutside }: ServerPlace): string =>
  isOutside ? shoot.api.publicWay.url : shoot.api.address().url;

/**
 * The place behind `scheme://host`, if there is one. Shoots are added and get other addresses: what is remembered is looked at, and what is
 * not found is looked for among all of them.
 */
export const createPlaces = (world: Pick<World, 'shoots'>): ((url: string) => ServerPlace | undefined) => {
  let places = new Map<string, ServerPlace>();
  return (url) => {
    const known = places.get(url);
    if (known !== undefined && urlOf(known) === url) return known;
    const all = [false, true].flatMap((isOutside) => world.shoots.map((shoot) => ({ shoot, isOutside })));
    // The first one of an address counts.
    places = new Map(all.toReversed().map((place) => [urlOf(place), place]));
    return places.get(url);
  };
};
