import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { staticCredentials, withCredentials } from '../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { World } from '../world/index.ts';
import { type OpenLine, type TrafficListener, createLine } from './line.ts';
import { createMemoryConnector } from './memory-connector.ts';
import { type ServerPlace, createPlaces, urlOf } from './places.ts';

export interface LinesOptions {
  readonly world: World;
  /** True time: delays on the way take it. */
  readonly clock: Clock;
  /** What the program sends through, and its clock. Default: a machine without faults. */
  readonly machine?: { readonly clock: Clock; connect(kube: Kube): Kube };
  /** For the line to `seed`, to the shoot of that name, or to it by its public way: `outside/NAME`. */
  readonly listen?: ((server: string) => TrafficListener) | undefined;
}

/** All lines of one program: to the seed's API server and to those of the shoots. */
export const createLines = ({ world, clock, machine, listen }: LinesOptions) => {
  const connect = (kube: Kube): Kube => machine?.connect(kube) ?? kube;
  const seed = createLine(world.api, { clock, listener: listen?.('seed') });
  const lines = new Map<string, OpenLine>();

  const lineOf = (place: ServerPlace): OpenLine => {
    const { api, name } = place.shoot;
    const url = urlOf(place);
    const [way, server] = place.isOutside ? [api.publicWay, `outside/${name}`] : [api, name];
    const line = lines.get(url) ?? createLine(way, { clock, listener: listen?.(server) });
    lines.set(url, line);
    return line;
  };

  const placeOf = createPlaces(world);
  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  return {
    seed,
    shoot: (name: string): OpenLine => lineOf({ shoot: world.shoot(name), isOutside: false }),
    /** To a shoot by its public way. */
    outside: (name: string): OpenLine => lineOf({ shoot: world.shoot(name), isOutside: true }),
    /** The line to the seed as a transport, with the credentials of now. */
    seedTransport: withCredentials(connect(seed.kube), staticCredentials(authorization)),
    connector: createMemoryConnector({
      clock: machine?.clock ?? clock,
      resolve: (url) => {
        const place = placeOf(url);
        return place && connect(lineOf(place).kube);
      },
      onConnect: (url) => lines.get(url)?.onConnect(),
    }),
  };
};
