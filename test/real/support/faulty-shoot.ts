import { type Authority, createAuthority } from '../../envtest/certificates.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { type KubeconfigCredentials, kubeconfigText } from '../../envtest/kubeconfig.ts';
import { createDependents, createProtectedShoot, getDeployment, isAt } from '../../envtest/shoot.ts';
import type { AuditedRequest } from './audit.ts';
import { ShootProxy } from '../../envtest/shoot-proxy.ts';
import type { Watchdog } from './watchdog.ts';

/** The contents of the kubeconfig in a shoot's Secret. */
export interface FaultyShootAccess {
  readonly server: string;
  readonly caPem: string;
  readonly credentials: KubeconfigCredentials;
}

/** A protected shoot of a seed. All these shoots share one API server; each has its own proxy in front of it. */
export interface FaultyShoot {
  /** Suffix of its namespace. */
  readonly name: string;
  readonly namespace: string;
  readonly watchdog: Watchdog;
  readonly shoot: ControlPlane;
  readonly front: ShootProxy;
  /** Signs the certificates of `front`. */
  readonly authority: Authority;
  /** Writes another kubeconfig into the Secret: the first one with these changes. */
  updateSecret(changes: Partial<FaultyShootAccess>): Promise<void>;
  /** Resolves to true if all its dependents are at 0, without ready pods. */
  isDown(): Promise<boolean>;
  /** Resolves to true if they are at their first counts again, and ready. */
  isUp(): Promise<boolean>;
  stop(): Promise<void>;
}

export interface FaultyShootOptions {
  readonly name: string;
  readonly seed: ControlPlane;
  readonly shoot: ControlPlane;
  readonly watchdog: Watchdog;
  readonly nodes: readonly string[];
  readonly credentials: KubeconfigCredentials;
}

const counts: Readonly<Record<string, number>> = {
  'kube-controller-manager': 2,
  'machine-controller-manager': 3,
};

export const createFaultyShoot = async (options: FaultyShootOptions): Promise<FaultyShoot> => {
  const { name, seed, shoot, watchdog, nodes, credentials } = options;
  const { client } = seed;
  const namespace = `shoot--faults--${name}`;
  const secret = `/api/v1/namespaces/${namespace}/secrets/shoot-access-prober`;
  const authority = await createAuthority(`${name}-ca`);
  const front = await ShootProxy.start(shoot, await authority.issueServer(['127.0.0.1']));
  const access: FaultyShootAccess = { server: front.url, caPem: authority.caPem, credentials };
  const textWith = (changes: Partial<FaultyShootAccess>): string =>
    kubeconfigText({ name, user: 'prober', ...access, ...changes });
  await createProtectedShoot(seed, { namespace, kubeconfig: textWith({}), labels: watchdog.clusterLabels });
  await createDependents(client, { namespace, nodes, counts });
  const isEach = async (wanted: (first: number) => number): Promise<boolean> => {
    for (const [deployment, first] of Object.entries(counts)) {
      if (!isAt(await getDeployment(client, namespace, deployment), wanted(first))) return false;
    }
    return true;
  };
  return {
    name,
    namespace,
    watchdog,
    shoot,
    front,
    authority,
    updateSecret: async (changes) => {
      const data = { kubeconfig: Buffer.from(textWith(changes)).toString('base64') };
      await client.apply(secret, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shoot-access-prober' }, data });
    },
    isDown: () => isEach(() => 0),
    isUp: () => isEach((first) => first),
    stop: () => front.stop(),
  };
};

/** Returns every write of a watchdog to a shoot's namespace, in order, as `kube-controller-manager 0`, by namespace. */
export const scalings = (requests: readonly AuditedRequest[]): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  for (const { user, verb, uri, status, body } of requests) {
    const isWrite = ['create', 'update', 'patch', 'delete'].includes(verb) && status < 300;
    const [, namespace, resource, name] = /\/namespaces\/([^/]+)\/([^/?]+)(?:\/([^/?]+))?/.exec(uri) ?? [];
    if (!user.startsWith('dwd-') || !isWrite || namespace === undefined || resource === 'events') continue;
    const { spec } = (body ?? {}) as { readonly spec?: { readonly replicas?: number } };
    const text = `${name ?? resource ?? ''} ${String(spec?.replicas ?? 'annotated')}`;
    found.set(namespace, [...(found.get(namespace) ?? []), text]);
  }
  return found;
};
