import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimApiServer, type SimKind, createSimApiServer } from '../apiserver/index.ts';
import { type Reachability, kubeconfigText } from '../network/index.ts';
import { createGate } from './gate.ts';
import { type PublicWay, createPublicWay } from './public-way.ts';

/** Where clients find an API server. */
export interface Address {
  readonly url: string;
  /** PEM of its certificate authority; absent where nobody checks. */
  readonly ca?: string;
}

/** An API server of the world with the way to it. */
export interface WorldServer {
  readonly server: SimApiServer;
  /** For clients: asks for the token of the kubeconfig, and breaks when the path does. */
  readonly kube: Kube;
  /** Breaks by itself, and with the server. */
  readonly publicWay: PublicWay;
  readonly reachability: Reachability;
  setReachability(reachability: Reachability): void;
  /** `listener` hears of every change. Returns the unsubscribe function. */
  onReachability(listener: (reachability: Reachability) => void): () => void;
  address(): Address;
  setAddress(address: Address): void;
  /** Kubeconfigs of before are let in no more. */
  rotateToken(): void;
  /** For its address and the token of now. */
  kubeconfig(): string;
}

export interface WorldServerOptions {
  readonly clock: Clock;
  readonly name: string;
  readonly seed: string;
  /** Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[] | undefined;
  /** How long its clients wait for a connection. Default: for ever. */
  readonly connectTimeoutMs?: number;
}

export const createWorldServer = (options: WorldServerOptions): WorldServer => {
  const { clock, name, seed, kinds, connectTimeoutMs } = options;
  const server = createSimApiServer({ clock, seed: `${seed}/${name}`, ...(kinds === undefined ? {} : { kinds }) });
  let address: Address = { url: `https://${name}.simulated` };
  let tokens = 1;
  const listeners = new Set<(reachability: Reachability) => void>();
  const token = (): string => `${name}-${String(tokens)}`;
  const gate = createGate(server, { clock, token, connectTimeoutMs });
  return {
    server,
    kube: gate,
    publicWay: createPublicWay({ clock, name, kube: gate, token }),
    get reachability() {
      return gate.reachability;
    },
    setReachability: (reachability) => {
      if (reachability === gate.reachability) return;
      gate.setReachability(reachability);
      for (const listener of listeners) listener(reachability);
    },
    onReachability: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    address: () => address,
    setAddress: (next) => {
      address = next;
    },
    rotateToken: () => {
      tokens += 1;
    },
    kubeconfig: () =>
      kubeconfigText({
        server: address.url,
        ...(address.ca === undefined ? {} : { ca: address.ca }),
        user: { token: token() },
      }),
  };
};
