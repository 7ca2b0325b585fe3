import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimKind, createSimApiServer } from '../apiserver/index.ts';
import { type PathState, kubeconfigText } from '../network/index.ts';
import { NetworkPath } from './network-path.ts';

interface PublicEndpointOptions {
  readonly clock: Clock;
  /** Name of the server. */
  readonly name: string;
  /** Internal path to the server. */
  readonly kube: Kube;
  readonly token: () => string;
}

/** Creates a second path to an API server, as if through a load balancer: it can fail while the server itself is reachable. */
const createPublicEndpoint = ({ clock, name, kube, token }: PublicEndpointOptions) => {
  const gate = new NetworkPath(kube, { clock, token });
  const url = `https://${name}.public.simulated`;
  return {
    url,
    /** Transport of clients. It works only while the server itself is reachable too. */
    kube: gate as Kube,
    setReachability: (reachability: PathState): void => gate.setReachability(reachability),
    /** Returns a kubeconfig with the public address and the current token. */
    kubeconfig: (): string => kubeconfigText({ server: url, user: { token: token() } }),
  };
};

/** Address of an API server for its clients. */
export interface Address {
  readonly url: string;
  /** PEM of its certificate authority; absent if clients do not check it. */
  readonly ca?: string;
}

export interface WorldServerOptions {
  readonly clock: Clock;
  readonly name: string;
  readonly seed: string;
  /** Served kinds. Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[] | undefined;
  /** How long its clients wait for a connection. Default: no limit. */
  readonly connectTimeoutMs?: number;
}

/** Creates an API server of the world, with the network paths to it. */
export const createWorldServer = (options: WorldServerOptions) => {
  const { clock, name, seed, kinds, connectTimeoutMs } = options;
  const server = createSimApiServer({ clock, seed: `${seed}/${name}`, ...(kinds === undefined ? {} : { kinds }) });
  let address: Address = { url: `https://${name}.simulated` };
  let tokens = 1;
  const token = (): string => `${name}-${String(tokens)}`;
  const gate = new NetworkPath(server, { clock, token, connectTimeoutMs });
  return {
    server,
    /** Transport of clients: requires the token of the kubeconfig, and fails while the path is not open. */
    kube: gate as Kube,
    /** Second path, through the public address. It fails on its own, and whenever the server cannot be reached. */
    publicAddress: createPublicEndpoint({ clock, name, kube: gate, token }),
    get reachability(): PathState {
      return gate.reachability;
    },
    setReachability: (reachability: PathState): void => gate.setReachability(reachability),
    address: (): Address => address,
    setAddress: (next: Address): void => {
      address = next;
    },
    /** Replaces the token: earlier kubeconfigs get a 401 from now on. */
    rotateToken: (): void => {
      tokens += 1;
    },
    /** Returns a kubeconfig with the current address and token. */
    kubeconfig: (): string => {
      const { url, ...ca } = address;
      return kubeconfigText({ server: url, ...ca, user: { token: token() } });
    },
  };
};

export type WorldServer = ReturnType<typeof createWorldServer>;
