import type { Endpoint, Security } from '../transport/index.ts';
import { dirname } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import { KubeconfigError } from '../api/errors.ts';
import { type Credentials, bearer, staticCredentials } from '../client/index.ts';
import {
  type Named,
  type TlsFields,
  authorizationOf,
  endpointOf,
  findEntry,
  namedEntries,
  operatorLimits,
  parseBounded,
  securityOf,
} from './document.ts';
import { type Environment, throughEnvironment } from './environment-proxy.ts';
import { type ExecCredential, type ExecPlugin, createExecPlugin, parseExecConfig } from './exec-plugin.ts';
import {
  type OperatorEntry,
  asPath,
  followSecurity,
  isMissing,
  loadPems,
  readText,
  tlsSourcesOf,
  tokenFileCredentials,
  whyUnreadable,
} from './file-credentials.ts';
import * as fields from './fields.ts';

/** Access to a cluster, as the operator configured it. */
export interface ClusterAccess {
  /** Origin of the access, for the log. */
  readonly source: string;
  /** Name of the kubeconfig's context. Absent: the service account of a pod, which has none. */
  readonly context?: string;
  readonly endpoint: Endpoint;
  /** Resolves with the current TLS settings: follows changed files and credentials. */
  readonly security: (signal: AbortSignal) => Promise<Security>;
  readonly credentials: Credentials;
}

export interface OperatorOptions {
  /** Value of `--kubeconfig`. */
  readonly path?: string;
  /** Value of `--context`. Absent or empty: the current context of the kubeconfig. */
  readonly context?: string;
  /** Environment of the process. */
  readonly env: Environment;
  /** Throws if the user has no home directory, neither $HOME nor an entry in /etc/passwd, as may be the case in a container. */
  readonly homedir: () => string;
  readonly clock: Clock;
  /** Directory of the pod's service account. Default: where the kubelet mounts it. */
  readonly serviceAccount?: string;
}

/** The parts of the chosen context. */
export interface OperatorContext {
  /** Absent: the service account of a pod, which has none. */
  readonly name?: string;
  readonly cluster: OperatorEntry;
  readonly user: OperatorEntry;
}

interface OneFile {
  readonly clusters: readonly OperatorEntry[];
  readonly users: readonly OperatorEntry[];
  readonly contexts: readonly OperatorEntry[];
  readonly current: fields.Field;
}

const parseFile = (text: string, file: string): OneFile => {
  const located = (entries: readonly Named[]): readonly OperatorEntry[] =>
    entries.map((entry) => ({ ...entry, path: `${file}: ${entry.path}`, directory: dirname(file) }));
  try {
    const root = fields.asObject({ path: 'document', value: parseBounded(text, operatorLimits) });
    const current = fields.member(root, '', 'current-context');
    fields.asText(current);
    return {
      clusters: located(namedEntries(root, 'clusters', 'cluster')),
      users: located(namedEntries(root, 'users', 'user')),
      contexts: located(namedEntries(root, 'contexts', 'context')),
      current: { ...current, path: `${file}: ${current.path}` },
    };
  } catch (error) {
    if (error instanceof KubeconfigError) throw new KubeconfigError(`${file}: ${error.field}`, error.problem);
    throw error;
  }
};

const readFileOrSkip = async (file: string): Promise<OneFile | undefined> => {
  let text: string;
  try {
    text = await readText(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new KubeconfigError(file, whyUnreadable(error));
  }
  return parseFile(text, file);
};

const mostNames = 20;

const findContext = (contexts: readonly OperatorEntry[], reference: fields.Field): OperatorEntry => {
  try {
    return findEntry(contexts, reference);
  } catch (error) {
    if (!(error instanceof KubeconfigError) || contexts.length === 0) throw error;
    const names = contexts.slice(0, mostNames).map(({ name }) => name);
    const more = contexts.length > mostNames ? ` and ${contexts.length - mostNames} more` : '';
    const problem = fields.isSet(reference.value) ? 'names a context that is not there' : error.problem;
    throw new KubeconfigError(reference.path, `${problem}; the contexts are ${names.join(', ')}${more}`);
  }
};

/**
 * Reads and merges kubeconfig files as kubectl does (client-go `tools/clientcmd/loader.go`): the first entry of each name counts, and the first
 * current-context that is set; files that do not exist are skipped. Undefined if none exists. Throws a KubeconfigError.
 */
export const loadContext = async (
  paths: readonly string[],
  chosen: OperatorOptions['context'],
): Promise<OperatorContext | undefined> => {
  const found: OneFile[] = [];
  for (const path of paths) {
    const file = await readFileOrSkip(path);
    if (file !== undefined) found.push(file);
  }
  const [first] = found;
  if (first === undefined) return undefined;
  const current = found.find((file) => fields.isSet(file.current.value))?.current ?? first.current;
  const context = findContext(
    found.flatMap((file) => file.contexts),
    fields.isSet(chosen) ? { path: '--context', value: chosen } : current,
  );
  const member = (name: string): fields.Field => fields.member(context.body, context.path, name);
  const clusters = found.flatMap((file) => file.clusters);
  const users = found.flatMap((file) => file.users);
  return {
    name: context.name,
    cluster: findEntry(clusters, member('cluster')),
    // `kubectl config set-context` without --user writes an empty one, for a server that asks for no credentials.
    user: fields.isSet(member('user').value) ? findEntry(users, member('user')) : { ...context, body: {} },
  };
};

const unsupported = ['auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

const refuseUnsupported = (user: OperatorEntry): void => {
  for (const name of unsupported) {
    const field = fields.member(user.body, user.path, name);
    if (fields.isSet(field.value)) throw new KubeconfigError(field.path, 'is not supported here');
  }
};

/** Returns the data for plugins under the reserved extension name (client-go `pkg/apis/clientauthentication/v1`, Cluster.Config). */
const execExtension = (cluster: OperatorEntry): unknown =>
  fields
    .asList(fields.member(cluster.body, cluster.path, 'extensions'))
    .map((entry) => fields.asObject(entry))
    .find((extension) => extension.name === 'client.authentication.k8s.io/exec')?.extension;

/** Returns `spec.cluster` of the plugin's input (client-go `rest/exec.go`, ConfigToExecCluster). */
const clusterInfoOf = (cluster: OperatorEntry, { ca }: TlsFields): Readonly<Record<string, unknown>> => {
  const config = execExtension(cluster);
  const copied = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url'].filter((name) =>
    fields.isSet(cluster.body[name]),
  );
  return {
    ...Object.fromEntries(copied.map((name) => [name, cluster.body[name]])),
    'certificate-authority-data': ca.text && Buffer.from(ca.text).toString('base64'),
    config,
  };
};

const pluginCredentials = (plugin: ExecPlugin): Credentials => ({
  authorization: async (signal) => {
    const { token } = await plugin.current(signal);
    return token === undefined ? undefined : bearer(token);
  },
  reload: () => {
    plugin.forget();
    return true;
  },
});

/** Returns TLS settings from the files with the certificate of the plugin's credential; a new credential results in new settings. */
const pluginSecurity = (
  plugin: ExecPlugin,
  load: () => Promise<TlsFields>,
): ((signal: AbortSignal) => Promise<Security>) => {
  let known: { readonly credential: ExecCredential; readonly security: Security } | undefined;
  return async (signal) => {
    const credential = await plugin.current(signal);
    if (known?.credential !== credential) {
      const pems = await load();
      const cert = { path: pems.cert.path, text: credential.cert };
      const key = { path: pems.key.path, text: credential.key };
      known = { credential, security: securityOf({ ...pems, cert, key }) };
    }
    return known.security;
  };
};

const credentialsOf = (user: OperatorEntry): Credentials => {
  const inline = authorizationOf(user);
  const tokenFile = asPath(user, 'tokenFile');
  if (tokenFile === undefined) return staticCredentials(inline);
  const fromFile = tokenFileCredentials(tokenFile);
  if (inline === undefined) return fromFile;
  return { ...fromFile, authorization: (signal) => fromFile.authorization(signal).catch(() => inline) };
};

/** Creates the access of a context. Loads all files once, so that their problems are found at the start. Throws a KubeconfigError. */
export const contextAccess = async (
  source: string,
  context: OperatorContext,
  { env, clock }: OperatorOptions,
): Promise<ClusterAccess> => {
  const { name, cluster, user } = context;
  refuseUnsupported(user);
  const sources = tlsSourcesOf(cluster, user);
  const pems = await loadPems(sources);
  securityOf(pems);
  const exec = fields.member(user.body, user.path, 'exec');
  const common = { source, context: name, endpoint: throughEnvironment(endpointOf(cluster), env) };
  // As in client-go, a plugin is not asked if there are other credentials (plugin/pkg/client/auth/exec, UpdateTransportConfig).
  const { cert } = sources;
  const isAsked = [authorizationOf(user), asPath(user, 'tokenFile'), cert.text, cert.file].every(
    (one) => one === undefined,
  );
  if (!fields.isSet(exec.value) || !isAsked) {
    return { ...common, security: followSecurity(sources), credentials: credentialsOf(user) };
  }
  const plugin = createExecPlugin({
    config: parseExecConfig(exec, user.directory),
    env,
    clock,
    clusterInfo: clusterInfoOf(cluster, pems),
  });
  return {
    ...common,
    security: pluginSecurity(plugin, () => loadPems(sources)),
    credentials: pluginCredentials(plugin),
  };
};
