import { delimiter, join } from 'node:path';
import { KubeconfigError } from '../api/errors.ts';
import { throughEnvironment } from './environment-proxy.ts';
import { followSecurity, readText, tokenFileCredentials } from './file-credentials.ts';
import { type ClusterAccess, type OperatorOptions, contextAccess, loadContext } from './operator-context.ts';

const kubeletMount = '/var/run/secrets/kubernetes.io/serviceaccount';

const isReadable = (path: string): Promise<boolean> =>
  readText(path).then(
    () => true,
    () => false,
  );

interface InCluster {
  readonly access?: ClusterAccess;
  /** Reason why this process does not run in a pod with a service account. */
  readonly problem?: string;
}

/** Returns access by the service account of our pod (client-go `rest/config.go`, InClusterConfig). */
const inClusterAccess = async ({
  env,
  context,
  serviceAccount = kubeletMount,
}: OperatorOptions): Promise<InCluster> => {
  if (context !== undefined && context !== '') return { problem: '--context names a context, which it does not have' };
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const port = Number(env.KUBERNETES_SERVICE_PORT ?? '');
  if (host === '') return { problem: 'KUBERNETES_SERVICE_HOST is not set' };
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return { problem: 'KUBERNETES_SERVICE_PORT is not a port' };
  const [token, ca] = [`${serviceAccount}/token`, `${serviceAccount}/ca.crt`];
  for (const file of [token, ca]) if (!(await isReadable(file))) return { problem: `${file} cannot be read` };
  const endpoint = throughEnvironment({ protocol: 'https:', host, port, basePath: '' }, env);
  const none = { path: 'service account', text: undefined };
  const sources = {
    ca: { ...none, file: ca },
    cert: none,
    key: none,
    insecure: { path: '', value: undefined },
  };
  return {
    access: {
      source: 'service account of the pod',
      endpoint,
      security: followSecurity(sources),
      credentials: tokenFileCredentials(token),
    },
  };
};

const fromFiles = async (
  source: string,
  paths: readonly string[],
  options: OperatorOptions,
): Promise<ClusterAccess | undefined> => {
  const context = await loadContext(paths, options.context);
  return context === undefined ? undefined : contextAccess(source, context, options);
};

const homeOf = ({ homedir }: OperatorOptions): string | undefined => {
  try {
    return homedir();
  } catch {
    return undefined;
  }
};

/**
 * Loads the access to the operator's cluster: from `--kubeconfig`, else `$KUBECONFIG` (a list), else the service account of the pod, else
 * `~/.kube/config` (the order of controller-runtime's `pkg/client/config`). This file is trusted: it may run a credential plugin and name
 * files. Rejects with a KubeconfigError that names the problem and its place, or all sources that were tried.
 */
export const loadOperatorKubeconfig = async (options: OperatorOptions): Promise<ClusterAccess> => {
  const { path, env } = options;
  if (path !== undefined && path !== '') {
    const access = await fromFiles(`--kubeconfig ${path}`, [path], options);
    if (access === undefined) throw new KubeconfigError(path, 'does not exist; check --kubeconfig');
    return access;
  }
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((entry) => entry !== '');
  if (listed.length > 0) {
    const access = await fromFiles(`KUBECONFIG=${listed.join(delimiter)}`, listed, options);
    if (access === undefined) throw new KubeconfigError(listed.join(delimiter), 'does not exist; check $KUBECONFIG');
    return access;
  }
  const inCluster = await inClusterAccess(options);
  if (inCluster.access !== undefined) return inCluster.access;
  const home = homeOf(options);
  const file = home === undefined ? undefined : join(home, '.kube', 'config');
  const access = file === undefined ? undefined : await fromFiles(file, [file], options);
  if (access !== undefined) return access;
  throw new KubeconfigError(
    'none found',
    `--kubeconfig and $KUBECONFIG are not set, this is no pod with a service account (${inCluster.problem ?? ''}), and ` +
      `${file === undefined ? 'there is no home directory' : `${file} does not exist`}; pass --kubeconfig or set KUBECONFIG`,
  );
};
