import { KubeconfigError } from '../api/errors.ts';
import {
  type Credentials,
  type Security,
  type TlsMaterial,
  bearer,
  createSecurity,
  staticCredentials,
} from '../client/index.ts';
import type { ClusterAccess, OperatorOptions } from './access.ts';
import { authorizationOf, endpointOf } from './entries.ts';
import { parseExecConfig } from './exec-config.ts';
import type { ExecCredential } from './exec-credential.ts';
import { type ExecPlugin, createExecPlugin } from './exec-plugin.ts';
import type { Files } from './files.ts';
import { type OperatorContext, type OperatorEntry, asPath } from './operator-files.ts';
import { followSecurity, loadMaterial, tlsSourcesOf } from './tls-files.ts';
import { tokenFileCredentials } from './token-file.ts';
import * as fields from './fields.ts';

type Options = OperatorOptions & { readonly files: Files };

const unsupported = ['auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

const refuseUnsupported = (user: OperatorEntry): void => {
  for (const name of unsupported) {
    const field = fields.member(user.body, user.path, name);
    if (fields.isSet(field.value)) throw new KubeconfigError(field.path, 'is not supported here');
  }
};

/** Data for plugins under the reserved extension name (client-go `pkg/apis/clientauthentication/v1`, Cluster.Config). */
const execExtension = (cluster: OperatorEntry): unknown =>
  fields
    .asList(fields.member(cluster.body, cluster.path, 'extensions'))
    .map((entry) => fields.asObject(entry))
    .find((extension) => extension.name === 'client.authentication.k8s.io/exec')?.extension;

/** `spec.cluster` of the plugin's input (client-go `rest/exec.go`, ConfigToExecCluster). */
const clusterInfoOf = (cluster: OperatorEntry, { ca }: TlsMaterial): Readonly<Record<string, unknown>> => {
  const config = execExtension(cluster);
  const copied = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url'].filter((name) =>
    fields.isSet(cluster.body[name]),
  );
  return {
    ...Object.fromEntries(copied.map((name) => [name, cluster.body[name]])),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(config === undefined ? {} : { config }),
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

/** The certificate of the plugin's credential on top of the files' settings; a new credential makes new settings. */
const pluginSecurity = (
  plugin: ExecPlugin,
  base: () => Promise<TlsMaterial>,
): ((signal: AbortSignal) => Promise<Security>) => {
  let known: { readonly credential: ExecCredential; readonly security: Security } | undefined;
  return async (signal) => {
    const credential = await plugin.current(signal);
    if (known?.credential !== credential) {
      const { cert, key } = credential;
      const pair = cert === undefined || key === undefined ? {} : { cert, key };
      known = { credential, security: createSecurity({ ...(await base()), ...pair }) };
    }
    return known.security;
  };
};

const credentialsOf = (user: OperatorEntry, files: Files): Credentials => {
  const inline = authorizationOf(user);
  const tokenFile = asPath(user, 'tokenFile');
  return tokenFile === undefined ? staticCredentials(inline) : tokenFileCredentials(tokenFile, files);
};

/** Turns the current context into access. Loads all files once, so that what is wrong with them is said at the start. Throws a KubeconfigError. */
export const contextAccess = async (
  source: string,
  context: OperatorContext,
  options: Options,
): Promise<ClusterAccess> => {
  const { cluster, user, namespace } = context;
  const { files, env, clock } = options;
  refuseUnsupported(user);
  const sources = tlsSourcesOf(cluster, user);
  const material = await loadMaterial(sources, files);
  const exec = fields.member(user.body, user.path, 'exec');
  const common = { source, endpoint: endpointOf(cluster), ...(namespace === undefined ? {} : { namespace }) };
  if (!fields.isSet(exec.value)) {
    return { ...common, security: followSecurity(sources, files), credentials: credentialsOf(user, files) };
  }
  const plugin = createExecPlugin({
    config: parseExecConfig(exec, user.directory),
    env,
    clock,
    clusterInfo: clusterInfoOf(cluster, material),
  });
  return {
    ...common,
    security: pluginSecurity(plugin, () => loadMaterial(sources, files)),
    credentials: pluginCredentials(plugin),
  };
};
