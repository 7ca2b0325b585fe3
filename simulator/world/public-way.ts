import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type Reachability, kubeconfigText } from '../network/index.ts';
import { createGate } from './gate.ts';

/** A second way to an API server, through a load balancer as it were: it can break while the server is up. */
export interface PublicWay {
  readonly url: string;
  /** For clients; as far as the server itself answers. */
  readonly kube: Kube;
  setReachability(reachability: Reachability): void;
  /** For its address and the token of now. */
  kubeconfig(): string;
}

export interface PublicWayOptions {
  readonly clock: Clock;
  /** Of the server. */
  readonly name: string;
  /** The way inside. */
  readonly kube: Kube;
  readonly token: () => string;
}

export const createPublicWay = ({ clock, name, kube, token }: PublicWayOptions): PublicWay => {
  const gate = createGate(kube, { clock, token });
  const url = `https://${name}.public.simulated`;
  return {
    url,
    kube: gate,
    setReachability: (reachability) => gate.setReachability(reachability),
    kubeconfig: () => kubeconfigText({ server: url, user: { token: token() } }),
  };
};
