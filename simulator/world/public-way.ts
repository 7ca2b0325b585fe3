import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type PathState, kubeconfigText } from '../network/index.ts';
import { Gate } from './gate.ts';

export interface PublicWayOptions {
  readonly clock: Clock;
  /** Of the server. */
  readonly name: string;
  /** The way inside. */
  readonly kube: Kube;
  readonly token: () => string;
}

/** A second way to an API server, through a load balancer as it were: it can break while the server is up. */
export const createPublicWay = ({ clock, name, kube, token }: PublicWayOptions) => {
  const gate = new Gate(kube, { clock, token });
  const url = `https://${name}.public.simulated`;
  return {
    url,
    /** For clients; as far as the server itself answers. */
    kube: gate as Kube,
    setReachability: (reachability: PathState): void => gate.setReachability(reachability),
    /** For its address and the token of now. */
    kubeconfig: (): string => kubeconfigText({ server: url, user: { token: token() } }),
  };
};
