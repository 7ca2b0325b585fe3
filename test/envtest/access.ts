import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Authority } from './certificates.ts';
import type { TestClient } from './client.ts';
import { type KubeconfigCredentials, type Kubeconfig, kubeconfigText } from './kubeconfig.ts';
import { waitFor } from './waiting.ts';

/** An RBAC rule: with `namespace`, in a Role of that namespace; without it, in a ClusterRole. */
export interface RbacRule {
  readonly apiGroups: readonly string[];
  /** A subresource is written as `machines/status`. */
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  /** The namespace of the Role. It is created if it does not exist. */
  readonly namespace?: string;
}

export interface UserOptions {
  readonly user: string;
  readonly groups?: readonly string[];
  /** Rights of the user, by default none. A second call for the same user replaces the Role or ClusterRole of every scope that it names. */
  readonly rules?: readonly RbacRule[];
}

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

/** Creates identities other than the admin. Their rights are in force when the promise resolves. */
export interface Access {
  /** Creates a kubeconfig of a user with a client certificate. */
  readonly kubeconfigFor: (options: UserOptions) => Promise<Kubeconfig>;
  /** Creates a kubeconfig of a service account, with a bearer token that is valid for a day. */
  readonly tokenKubeconfig: (account: ServiceAccount) => Promise<Kubeconfig & { readonly token: string }>;
  /** The same, for an account that is created, with its namespace, if it does not exist. */
  readonly serviceAccountKubeconfig: (
    account: ServiceAccount & { readonly rules?: readonly RbacRule[] },
  ) => ReturnType<Access['tokenKubeconfig']>;
  /** Writes a kubeconfig with the given credentials. Grants no rights. */
  readonly kubeconfigWith: (user: string, credentials: KubeconfigCredentials) => Kubeconfig;
}

export interface AccessOptions {
  readonly client: TestClient;
  readonly authority: Authority;
  readonly server: string;
  readonly name: string;
  /** Directory for the kubeconfig files. */
  readonly directory: string;
}

export function createAccess({ client, authority, server, name, directory }: AccessOptions): Access {
  let files = 0;
  const kubeconfigWith = (user: string, credentials: KubeconfigCredentials): Kubeconfig => {
    const text = kubeconfigText({ name, server, caPem: authority.caPem, user, credentials });
    files += 1;
    const file = join(directory, `${String(files)}-${slug(user)}.yaml`);
    writeFileSync(file, text, { mode: 0o600 });
    return { text, file };
  };
  const tokenKubeconfig: Access['tokenKubeconfig'] = async ({ namespace, name: account }) => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
    const request = { ...kind, spec: { expirationSeconds: 86_400 } };
    const { token } = (await client.create<{ status: { token: string } }>(path, request)).status;
    return { ...kubeconfigWith(`system:serviceaccount:${namespace}:${account}`, { token }), token };
  };
  return {
    kubeconfigWith,
    tokenKubeconfig,
    kubeconfigFor: async ({ rules = [], ...identity }) => {
      const certificate = await authority.issueClient(identity);
      await grant(client, { user: identity.user, groups: identity.groups ?? [] }, rules);
      return kubeconfigWith(identity.user, certificate);
    },
    serviceAccountKubeconfig: async ({ namespace, name: account, rules = [] }) => {
      await ensureNamespace(client, namespace);
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}`;
      await client.apply(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } });
      const user = `system:serviceaccount:${namespace}:${account}`;
      await grant(client, { user, groups: ['system:serviceaccounts'] }, rules);
      return tokenKubeconfig({ namespace, name: account });
    },
  };
}

interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
}

async function grant(client: TestClient, identity: Identity, rules: readonly RbacRule[]): Promise<void> {
  for (const namespace of new Set(rules.map((rule) => rule.namespace))) {
    const scoped = rules.filter((rule) => rule.namespace === namespace);
    if (namespace !== undefined) await ensureNamespace(client, namespace);
    const base = namespace === undefined ? rbac : `${rbac}/namespaces/${namespace}`;
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const name = `envtest-${slug(identity.user)}`;
    const metadata = { name, ...(namespace !== undefined && { namespace }) };
    await client.apply(`${base}/${kind.toLowerCase()}s/${name}`, {
      apiVersion,
      kind,
      metadata,
      rules: scoped.map(({ namespace: _, ...rule }) => rule),
    });
    await client.apply(`${base}/${kind.toLowerCase()}bindings/${name}`, {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup, kind, name },
      subjects: [{ apiGroup, kind: 'User', name: identity.user }],
    });
  }
  await Promise.all(rules.map((rule) => untilAllowed(client, identity, rule)));
}

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;
const rbac = `/apis/${apiVersion}`;

/** Waits until a rule is in force: the authorizer sees new roles through its own watches, a moment after they are stored. */
export async function untilAllowed(client: TestClient, identity: Identity, rule: RbacRule): Promise<void> {
  const [resource, subresource] = rule.resources[0]?.split('/') ?? [];
  const {
    apiGroups: [group],
    verbs: [verb],
    resourceNames: [name] = [],
    namespace,
  } = rule;
  const resourceAttributes = { group, resource, subresource, verb, name, namespace };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { ...identity, resourceAttributes },
  };
  await waitFor({ what: `${identity.user} may ${rule.verbs.join(',')}`, everyMs: 10 }, async () => {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const { status } = await client.create<{ status: { allowed: boolean } }>(path, review);
    return status.allowed;
  });
}

function ensureNamespace(client: TestClient, name: string): Promise<unknown> {
  return client.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** Returns a user's name for files and objects: `system:serviceaccount:garden:dwd` becomes `system-serviceaccount-garden-dwd`. */
function slug(user: string): string {
  return user.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
