import { decodeObject, optionalObject, optionalString } from '../api/decode.ts';
import { KubeconfigError } from '../api/errors.ts';
import type { ShootPolicy } from '../api/shoot-connection.ts';
import { type Endpoint, type Security, isLinkLocal } from '../transport/index.ts';
import {
  type Named,
  type Pem,
  authorizationOf,
  endpointOf,
  findEntry,
  namedEntries,
  parseBounded,
  securityOf,
  untrustedLimits,
} from './document.ts';
import * as fields from './fields.ts';

/** Returns the text of the kubeconfig in a Secret (`v1`) under `key`; undefined if there is no such key. */
export const decodeKubeconfigUnder = (key: string, json: unknown, path: string): string | undefined => {
  const data = optionalObject(decodeObject(json, path).data, `${path}.data`) ?? {};
  const encoded = Object.hasOwn(data, key) ? optionalString(data[key], `${path}.data.${key}`) : undefined;
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
};

/** Returns the text of the kubeconfig in a Secret (`v1`); undefined if there is no key `kubeconfig`. */
export const decodeKubeconfigSecret = (json: unknown, path: string): string | undefined =>
  decodeKubeconfigUnder('kubeconfig', json, path);

/** Endpoint of a shoot's API server and our credentials there. It is self-contained: it refers to no files or programs. */
export interface ShootEndpoint {
  readonly endpoint: Endpoint;
  readonly security: Security;
  /** Value of the `Authorization` header; absent: none. */
  readonly authorization?: string;
}

const runsCommand = 'is refused: it would run a command in this process';
const impersonates = 'is refused: impersonation is not allowed here';
const readsFile = 'is refused: it would read a file of this process; put the data inline';

/** Fields that client-go obeys (tools/clientcmd/api/v1, AuthInfo and Cluster) and that an untrusted file must not have. */
const refusedOfUsers: Readonly<Record<string, string>> = {
  exec: runsCommand,
  'auth-provider': runsCommand,
  as: impersonates,
  'as-uid': impersonates,
  'as-groups': impersonates,
  'as-user-extra': impersonates,
  tokenFile: readsFile,
  'client-certificate': readsFile,
  'client-key': readsFile,
};
const refusedOfClusters: Readonly<Record<string, string>> = { 'certificate-authority': readsFile };

const refuse = (entries: readonly Named[], refused: Readonly<Record<string, string>>): void => {
  for (const { path, body } of entries) {
    for (const [name, problem] of Object.entries(refused)) {
      const field = fields.member(body, path, name);
      if (fields.isSet(field.value)) throw new KubeconfigError(field.path, problem);
    }
  }
};

/** Maximum number of certificates in a bundle: 1000 take a tenth of a second to parse, once per text. */
const mostCertificates = 1_000;

/** Returns a PEM of `entry` that is given inline, as every one in an untrusted file is. */
const pemOf = (entry: Named, name: string): Pem => {
  const field = fields.member(entry.body, entry.path, `${name}-data`);
  return { path: field.path, text: fields.asBase64(field) };
};

const linkLocal = 'must not be a link-local address or that of a metadata service; give the address of the API server';

const socks = "names a SOCKS proxy, which only the operator's own kubeconfig may; give an HTTP proxy";

/** The name of this machine (RFC 6761, section 6.3). Some tools write it for a forwarded port, such as vcluster `https://localhost:8443`. */
const localhost = /^(?:.+\.)?localhost\.?$/;
const ownPod = 'is localhost, which is the pod or machine of this program itself; give the address of the API server';

/** Refuses SOCKS proxies, this machine by its name, and link-local addresses. The dialer checks host names when it resolves them. */
const elsewhere = (cluster: Named, endpoint: Endpoint): Endpoint => {
  const refuseIf = (host: string | undefined, name: string): void => {
    if (host !== undefined && isLinkLocal(host)) throw new KubeconfigError(`${cluster.path}.${name}`, linkLocal);
  };
  if (endpoint.proxy?.protocol === 'socks5:') throw new KubeconfigError(`${cluster.path}.proxy-url`, socks);
  if (endpoint.proxy === undefined && localhost.test(endpoint.host)) {
    throw new KubeconfigError(`${cluster.path}.server`, ownPod);
  }
  refuseIf(endpoint.host, 'server');
  refuseIf(endpoint.proxy?.host, 'proxy-url');
  return { ...endpoint, untrusted: true };
};

/** Throws a KubeconfigError if `server` is `http://`, unless the operator allows it. */
export const refuseInsecure = (
  { endpoint }: ShootEndpoint,
  { allowInsecureShoots = false }: ShootPolicy = {},
): void => {
  if (endpoint.protocol === 'https:' || allowInsecureShoots) return;
  const problem = 'is http://, which anybody on the way can read and change';
  throw new KubeconfigError('server', `${problem}; use https://, or set allowInsecureShoots: true`);
};

/**
 * Parses a kubeconfig that comes from the cluster, by an allow-list of fields. Only the current context is used, but a refused field anywhere in the
 * file is an error, so that a file cannot hide one behind a switch of the context. Opens no file, runs no program, resolves no name. Throws only
 * KubeconfigError, and no message contains a value of the file.
 */
export const parseUntrustedKubeconfig = (text: string): ShootEndpoint => {
  const root = fields.asObject({ path: 'document', value: parseBounded(text, untrustedLimits) });
  const clusters = namedEntries(root, 'clusters', 'cluster');
  const users = namedEntries(root, 'users', 'user');
  const contexts = namedEntries(root, 'contexts', 'context');
  refuse(users, refusedOfUsers);
  refuse(clusters, refusedOfClusters);
  const context = findEntry(contexts, fields.member(root, '', 'current-context'));
  const cluster = findEntry(clusters, fields.member(context.body, context.path, 'cluster'));
  const user = findEntry(users, fields.member(context.body, context.path, 'user'));
  const pems = {
    ca: pemOf(cluster, 'certificate-authority'),
    cert: pemOf(user, 'client-certificate'),
    key: pemOf(user, 'client-key'),
    insecure: fields.member(cluster.body, cluster.path, 'insecure-skip-tls-verify'),
  };
  return {
    endpoint: elsewhere(cluster, endpointOf(cluster)),
    security: securityOf(pems, mostCertificates),
    authorization: authorizationOf(user),
  };
};
