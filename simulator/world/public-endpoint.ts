import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type PathState, kubeconfigText } from '../network/index.ts';
import { NetworkPath } from './network-path.ts';

export interface PublicEndpointOptions {
  readonly clock: Clock;
  /** Name of the server. */
  readonly name: string;
  /** Internal path to the server. */
  readonly kube: Kube;
  readonly token: () => string;
}

/** Creates a second path to an API server, as if through a load balancer: it can fail while the server itself is reachable. */
export const createPublicEndpoint = ({ clock, name, kube, token }: PublicEndpointOptions) => {
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
