import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { staticCredentials, withCredentials } from '../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { World, WorldShoot } from '../world/index.ts';
import {
  type OpenLine,
  type ServerConnection,
  type TrafficListener,
  createServerConnection,
} from './server-connection.ts';
import { createMemoryConnector } from './memory-connector.ts';

export interface ServerConnectionsOptions {
  readonly world: World;
  /** Clock of true time, by which delays on the path run. */
  readonly clock: Clock;
  /** Returns the listener of a line: to `seed`, to the shoot of that name, or to a shoot's public address (`outside/NAME`). */
  readonly listen?: (server: string) => TrafficListener | undefined;
}

/** Process that sends requests, with its clock. */
interface Machine {
  readonly clock: Clock;
  connect(kube: Kube): Kube;
}

/** Creates the lines to the seed's API server and to those of the shoots, for one program or for several that come after one another. */
export const createServerConnections = ({ world, clock, listen }: ServerConnectionsOptions) => {
  const seed = createServerConnection(world.api, { clock, listener: listen?.('seed') });
  const lines = new Map<string, OpenLine>();

  const lineTo = ({ api, name }: WorldShoot, isPublic: boolean): OpenLine => {
    const url = isPublic ? api.publicAddress.url : api.address().url;
    const [way, server] = isPublic ? [api.publicAddress, `outside/${name}`] : [api, name];
    const line = lines.get(url) ?? createServerConnection(way, { clock, listener: listen?.(server) });
    lines.set(url, line);
    return line;
  };

  /** Shoots are added and change their addresses. If several have the same address, the first one counts. */
  const lineAt = (url: string): OpenLine | undefined => {
    const internal = world.shoots.find(({ api }) => api.address().url === url);
    const found = internal ?? world.shoots.find(({ api }) => api.publicAddress.url === url);
    return found && lineTo(found, internal === undefined);
  };

  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  return {
    seed: seed as ServerConnection,
    shoot: (name: string): ServerConnection => lineTo(world.shoot(name), false),
    /** Returns the line to a shoot's public address. */
    publicAddress: (name: string): ServerConnection => lineTo(world.shoot(name), true),
    /** Returns the transports by which a process uses the lines, to the seed with its credentials. */
    transportsOf: (machine: Machine) => ({
      seedTransport: withCredentials(machine.connect(seed.kube), staticCredentials(authorization)),
      connector: createMemoryConnector({
        clock: machine.clock,
        resolve: (url) => {
          const line = lineAt(url);
          return line && machine.connect(line.kube);
        },
        onConnect: (url) => lines.get(url)?.onConnect(),
      }),
    }),
  };
};

export type ServerConnections = ReturnType<typeof createServerConnections>;
