import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { staticCredentials, withCredentials } from '../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { World } from '../world/index.ts';
import { type OpenLine, type TrafficListener, createServerConnection } from './server-connection.ts';
import { createMemoryConnector } from './memory-connector.ts';
import { type ServerAddress, createServerAddresses, urlOf } from './server-addresses.ts';

export interface ServerConnectionsOptions {
  readonly world: World;
  /** Clock of true time, by which delays on the path run. */
  readonly clock: Clock;
  /** Process that sends the requests, with its clock. Default: none, `clock` and no faults of a process. */
  readonly machine?: { readonly clock: Clock; connect(kube: Kube): Kube };
  /** Returns the listener of a line: to `seed`, to the shoot of that name, or to a shoot's public address (`outside/NAME`). */
  readonly listen?: ((server: string) => TrafficListener) | undefined;
}

/** Creates all lines of one program: to the seed's API server and to those of the shoots. */
export const createServerConnections = ({ world, clock, machine, listen }: ServerConnectionsOptions) => {
  const connect = (kube: Kube): Kube => machine?.connect(kube) ?? kube;
  const seed = createServerConnection(world.api, { clock, listener: listen?.('seed') });
  const lines = new Map<string, OpenLine>();

  const lineOf = (place: ServerAddress): OpenLine => {
    const { api, name } = place.shoot;
    const url = urlOf(place);
    const [way, server] = place.isPublic ? [api.publicAddress, `outside/${name}`] : [api, name];
    const line = lines.get(url) ?? createServerConnection(way, { clock, listener: listen?.(server) });
    lines.set(url, line);
    return line;
  };

  const placeOf = createServerAddresses(world);
  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  return {
    seed,
    shoot: (name: string): OpenLine => lineOf({ shoot: world.shoot(name), isPublic: false }),
    /** Returns the line to a shoot's public address. */
    publicAddress: (name: string): OpenLine => lineOf({ shoot: world.shoot(name), isPublic: true }),
    /** The line to the seed as a transport, with the current credentials. */
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
