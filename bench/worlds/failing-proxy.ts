import type { Random } from '../../src/ports/random.ts';
import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { kubeconfigText } from '../../test/envtest/kubeconfig.ts';
import { shootRules } from '../../test/envtest/shoot.ts';
import { type ProxyResponse, ShootProxy } from '../../test/envtest/shoot-proxy.ts';

/** A proxy in front of a shoot's API server that makes a share of the requests fail. */
export interface FailingProxy {
  /** Text of a kubeconfig that connects through the proxy. */
  readonly kubeconfig: string;
  stop: ShootProxy['stop'];
}

const failingShare = 0.2;
const [dayMs, dayS] = [86_400_000, 86_400];

const serverError: ProxyResponse = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500 })),
};

/** Starts the proxy. Half of the failing requests get a 500 response, for the others the connection breaks. */
export const startFailingProxy = async (shoot: ControlPlane, random: Random): Promise<FailingProxy> => {
  const front = await ShootProxy.start(shoot, await shoot.authority.issueServer([shoot.host], dayMs));
  front.intercept((_, ask) => {
    const draw = random.next();
    if (draw >= failingShare) return ask();
    if (draw < failingShare / 2) return Promise.resolve(serverError);
    return Promise.reject(new Error('the connection breaks'));
  });
  // TLS ends at the proxy, so a client certificate would not reach the API server.
  const account = { namespace: 'kube-system', name: 'prober', expirationSeconds: dayS };
  const { token } = await shoot.serviceAccountKubeconfig({ ...account, rules: shootRules });
  const { caPem, name } = shoot;
  const kubeconfig = kubeconfigText({ name, server: front.url, caPem, user: 'prober', credentials: { token } });
  return { kubeconfig, stop: () => front.stop() };
};
