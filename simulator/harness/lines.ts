import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { ShootConnector } from '../../src/kubernetes/api/shoot-connection.ts';
import { staticCredentials, withCredentials } from '../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { World, WorldServer } from '../world/index.ts';
import { type OpenLine, type TrafficListener, createLine } from './line.ts';
import { createMemoryConnector } from './memory-connector.ts';
import { createPlaces } from './places.ts';

export interface LinesOptions {
  readonly world: World;
  /** True time: delays on the way take it. */
  readonly clock: Clock;
  /** What the program sends through, and its clock. Default: a machine without faults. */
  readonly machine?: { readonly clock: Clock; connect(kube: Kube): Kube };
  /** For the line to `seed`, to the shoot of that name, or to it by its public way: `outside/NAME`. */
  readonly listen?: (server: string) => TrafficListener;
}

/** All lines of one program: to the seed's API server and to those of the shoots. */
export interface Lines {
  readonly seed: OpenLine;
  shoot(name: string): OpenLine;
  /** To a shoot by its public way. */
  outside(name: string): OpenLine;
  /** The line to the seed as a transport, with the credentials of now. */
  readonly seedTransport: Kube;
  readonly connector: ShootConnector;
}

export const createLines = ({ world, clock, machine, listen }: LinesOptions): Lines => {
  const connect = (kube: Kube): Kube => machine?.connect(kube) ?? kube;
  const seed = createLine(world.api, { clock, listener: listen?.('seed') });
  const lines = new Map<string, OpenLine>();

  const lineOf = (api: WorldServer, name: string): OpenLine => {
    const { url } = api.address();
    const line = lines.get(url) ?? createLine(api, { clock, listener: listen?.(name) });
    lines.set(url, line);
    return line;
  };

  const outsideOf = ({ publicWay }: WorldServer, name: string): OpenLine => {
    const { url } = publicWay;
    const line = lines.get(url) ?? createLine(publicWay, { clock, listener: listen?.(`outside/${name}`) });
    lines.set(url, line);
    return line;
  };

  const placeOf = createPlaces(world);
  const lineAt = (url: string): OpenLine | undefined => {
    const place = placeOf(url);
    if (place === undefined) return undefined;
    const { api, name } = place.shoot;
    return place.isOutside ? outsideOf(api, name) : lineOf(api, name);
  };

  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  return {
    seed,
    shoot: (name) => lineOf(world.shoot(name).api, name),
    outside: (name) => outsideOf(world.shoot(name).api, name),
    seedTransport: withCredentials(connect(seed.kube), staticCredentials(authorization)),
    connector: createMemoryConnector({
      clock: machine?.clock ?? clock,
      resolve: (url) => {
        const line = lineAt(url);
        return line && connect(line.kube);
      },
      onConnect: (url) => lines.get(url)?.onConnect(),
    }),
  };
};
