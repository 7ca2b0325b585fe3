import { parseUntrustedKubeconfig, staticCredentials, withCredentials } from '../kube/index.ts';
import type { Clock, Kube, ShootConnector } from '../ports/index.ts';
import type { World, WorldServer } from '../sim/index.ts';
import { createLine, type OpenLine, type TrafficListener } from './line.ts';
import { createMemoryConnector } from './memory-connector.ts';

export interface LinesOptions {
  readonly world: World;
  /** True time: delays on the way take it. */
  readonly clock: Clock;
  /** What the program sends through, and its clock. Default: a machine without faults. */
  readonly machine?: { readonly clock: Clock; connect(kube: Kube): Kube };
  /** For the line to `seed` or to the shoot of that name. */
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

  const outsideOf = ({ publicWay }: WorldServer): OpenLine => {
    const { url } = publicWay;
    const line = lines.get(url) ?? createLine(publicWay, { clock });
    lines.set(url, line);
    return line;
  };

  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  return {
    seed,
    shoot: (name) => lineOf(world.shoot(name).api, name),
    outside: (name) => outsideOf(world.shoot(name).api),
    seedTransport: withCredentials(connect(seed.kube), staticCredentials(authorization)),
    connector: createMemoryConnector({
      clock: machine?.clock ?? clock,
      resolve: (url) => {
        const shoot = world.shoots.find(({ api }) => api.address().url === url);
        if (shoot !== undefined) return connect(lineOf(shoot.api, shoot.name).kube);
        const outside = world.shoots.find(({ api }) => api.publicWay.url === url);
        return outside && connect(outsideOf(outside.api).kube);
      },
      onConnect: (url) => lines.get(url)?.onConnect(),
    }),
  };
};
