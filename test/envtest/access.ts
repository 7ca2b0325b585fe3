import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Authority } from './certificates.ts';
import type { TestClient } from './client.ts';
import { type KubeconfigCredentials, type Kubeconfig, kubeconfigText } from './kubeconfig.ts';
import { waitFor } from './waiting.ts';

/** An RBAC rule; with `namespace` it holds in that namespace only (a Role), without it everywhere (a ClusterRole). */
export interface RbacRule {
  readonly apiGroups?: readonly string[];
  /** Subresources as `machines/status`. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
  /** Created when missing. */
  readonly namespace?: string;
}

export interface UserOptions {
  readonly user: string;
  readonly groups?: readonly string[];
  /** What the user may do; nothing unless told. A second call for the same user replaces the rules of the first. */
  readonly rules?: readonly RbacRule[];
  /** Of the client certificate, from now; a day unless told; a negative number gives an expired one. */
  readonly validForMs?: number;
}

export interface ServiceAccountOptions {
  readonly namespace: string;
  readonly name: string;
  readonly rules?: readonly RbacRule[];
  /** At least 600, which is also what it is unless told; the API server accepts no less. */
  readonly expirationSeconds?: number;
}

/** Ways to be someone else than the admin. Rights are in force when the promise resolves. */
export interface Access {
  /** A user with a client certificate. */
  readonly kubeconfigFor: (options: UserOptions) => Promise<Kubeconfig>;
  /** A service account with a bearer token from a TokenRequest; created with its namespace when missing. */
  readonly serviceAccountKubeconfig: (
    options: ServiceAccountOptions,
  ) => Promise<Kubeconfig & { readonly token: string }>;
  /** A kubeconfig for any credentials, with no rights attached. */
  readonly kubeconfigWith: (user: string, credentials: KubeconfigCredentials) => Kubeconfig;
}

export interface AccessOptions {
  readonly client: TestClient;
  readonly authority: Authority;
  readonly server: string;
  readonly name: string;
  /** Where kubeconfig files go. */
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
  return {
    kubeconfigWith,
    kubeconfigFor: async ({ rules = [], ...identity }) => {
      const certificate = await authority.issueClient(identity);
      await grant(client, { user: identity.user, groups: identity.groups ?? [] }, rules);
      return kubeconfigWith(identity.user, certificate);
    },
    serviceAccountKubeconfig: async ({ namespace, name: account, rules = [], expirationSeconds = 600 }) => {
      await ensureNamespace(client, namespace);
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}`;
      await client.apply(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } });
      const user = `system:serviceaccount:${namespace}:${account}`;
      await grant(client, { user, groups: ['system:serviceaccounts'] }, rules);
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } };
      const { status } = await client.create<{ status: { token: string } }>(`${path}/token`, request);
      return { ...kubeconfigWith(user, { token: status.token }), token: status.token };
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

/** The authorizer learns of new roles through watches of its own, a moment after they are stored. */
async function untilAllowed(client: TestClient, identity: Identity, rule: RbacRule): Promise<void> {
  const [resource, subresource] = rule.resources?.[0]?.split('/') ?? [];
  const verb = rule.verbs[0];
  const attributes =
    resource === undefined
      ? { nonResourceAttributes: { path: rule.nonResourceURLs?.[0], verb } }
      : {
          resourceAttributes: {
            group: rule.apiGroups?.[0] ?? '',
            resource,
            subresource,
            verb,
            name: rule.resourceNames?.[0],
            namespace: rule.namespace,
          },
        };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { ...identity, ...attributes },
  };
  await waitFor({ what: `${identity.user} may ${rule.verbs.join(',')}`, withinMs: 10_000, everyMs: 10 }, async () => {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const { status } = await client.create<{ status: { allowed: boolean } }>(path, review);
    return status.allowed;
  });
}

function ensureNamespace(client: TestClient, name: string): Promise<unknown> {
  return client.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** A name for files and objects: `system:serviceaccount:garden:dwd` becomes `system-serviceaccount-garden-dwd`. */
function slug(user: string): string {
  return user.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
