import type { Kube, KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { staticCredentials, withCredentials } from '../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type FaultRule, withCounting, withFaults } from '../network/index.ts';
import type { World, WorldServer, WorldShoot } from '../world/index.ts';
import { createMemoryConnector } from './memory-connector.ts';

/** A request that a program has sent over a line. */
export interface HeardRequest {
  /** The request reaches the API server, which executes it before it calls the returned function. */
  serving(): () => void;
  /** The head of the response has arrived; without `status` there will be no response. */
  ended(status?: number): void;
}

/** Called for each request that a program sends over a line. */
export type TrafficListener = (request: KubeRequest) => HeardRequest;

const listening = (kube: Kube, heard: HeardRequest): Kube => ({
  request: (request) => {
    const end = heard.serving();
    try {
      return kube.request(request);
    } finally {
      end();
    }
  },
});

/**
 * Creates a line: the path of one program to one API server, which counts the program's requests and injects faults. As a transport does,
 * it calls `beforeSend` when it sends a request.
 */
const createLine = (api: Pick<WorldServer, 'kube'>, clock: Clock, listen: TrafficListener | undefined) => {
  let rule: FaultRule | undefined;
  let connections = 0;
  const faults = { clock, rule: (request: KubeRequest) => rule?.(request) };

  const kube = withCounting({
    request: async (request) => {
      request.signal.throwIfAborted();
      request.beforeSend?.();
      const heard = listen?.(request);
      try {
        const response = await withFaults(heard ? listening(api.kube, heard) : api.kube, faults).request(request);
        heard?.ended(response.status);
        return response;
      } catch (error) {
        heard?.ended();
        throw error;
      }
    },
  });
  return {
    /** The line as a transport. */
    kube: kube as Kube,
    requests: kube.counts,
    /** Number of connections opened so far; those to the seed are not counted. */
    connections: (): number => connections,
    onConnect: (): void => {
      connections += 1;
    },
    /** Sets the rule that is called for each request; undefined ends the faults. */
    setFaults: (next: FaultRule | undefined): void => {
      rule = next;
    },
  };
};

type OpenLine = ReturnType<typeof createLine>;
export type ServerConnection = Omit<OpenLine, 'kube' | 'onConnect'>;

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
  const seed = createLine(world.api, clock, listen?.('seed'));
  const lines = new Map<string, OpenLine>();

  const lineTo = ({ api, name }: WorldShoot, isPublic: boolean): OpenLine => {
    const url = isPublic ? api.publicAddress.url : api.address().url;
    const [way, server] = isPublic ? [api.publicAddress, `outside/${name}`] : [api, name];
    const line = lines.get(url) ?? createLine(way, clock, listen?.(server));
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
