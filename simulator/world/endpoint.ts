import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimKind, createSimApiServer } from '../apiserver/index.ts';
import { type PathState, kubeconfigText } from '../network/index.ts';
import { Gate } from './gate.ts';
import { createPublicWay } from './public-way.ts';

/** Where clients find an API server. */
export interface Address {
  readonly url: string;
  /** PEM of its certificate authority; absent where nobody checks. */
  readonly ca?: string;
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

/** An API server of the world with the way to it. */
export const createWorldServer = (options: WorldServerOptions) => {
  const { clock, name, seed, kinds, connectTimeoutMs } = options;
  const server = createSimApiServer({ clock, seed: `${seed}/${name}`, ...(kinds === undefined ? {} : { kinds }) });
  let address: Address = { url: `https://${name}.simulated` };
  let tokens = 1;
  const listeners = new Set<(reachability: PathState) => void>();
  const token = (): string => `${name}-${String(tokens)}`;
  const gate = new Gate(server, { clock, token, connectTimeoutMs });
  return {
    server,
    /** For clients: asks for the token of the kubeconfig, and breaks when the path does. */
    kube: gate as Kube,
    /** Breaks by itself, and with the server. */
    publicWay: createPublicWay({ clock, name, kube: gate, token }),
    get reachability(): PathState {
      return gate.reachability;
    },
    setReachability: (reachability: PathState): void => {
      if (reachability === gate.reachability) return;
      gate.setReachability(reachability);
      for (const listener of listeners) listener(reachability);
    },
    /** `listener` hears of every change. Returns the unsubscribe function. */
    onReachability: (listener: (reachability: PathState) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    address: (): Address => address,
    setAddress: (next: Address): void => {
      address = next;
    },
    /** Kubeconfigs of before are let in no more. */
    rotateToken: (): void => {
      tokens += 1;
    },
    /** For its address and the token of now. */
    kubeconfig: (): string => {
      const { url, ...ca } = address;
      return kubeconfigText({ server: url, ...ca, user: { token: token() } });
    },
  };
};

export type WorldServer = ReturnType<typeof createWorldServer>;
