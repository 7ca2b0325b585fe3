import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimKind, createSimApiServer } from '../apiserver/index.ts';
import { kubeconfigText } from '../network/index.ts';
import { NetworkPath, type PathState } from './network-path.ts';

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
  const server = createSimApiServer({ clock, seed: `${seed}/${name}`, kinds });
  let address: Address = { url: `https://${name}.simulated` };
  let tokens = 1;
  const token = (): string => `${name}-${String(tokens)}`;
  const gate = new NetworkPath(server, { clock, token, connectTimeoutMs });
  const publicGate = new NetworkPath(gate, { clock, token });
  const publicUrl = `https://${name}.public.simulated`;
  return {
    server,
    /** Transport of clients: requires the token of the kubeconfig, and fails while the path is not open. */
    kube: gate as Kube,
    /** Second path, as if through a load balancer. It fails on its own, and whenever the server cannot be reached. */
    publicAddress: {
      url: publicUrl,
      kube: publicGate as Kube,
      setReachability: (reachability: PathState): void => publicGate.setReachability(reachability),
      kubeconfig: (): string => kubeconfigText({ server: publicUrl, user: { token: token() } }),
    },
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
