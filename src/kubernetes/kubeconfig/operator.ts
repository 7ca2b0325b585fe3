import { delimiter, join } from 'node:path';
import { KubeconfigError } from '../api/errors.ts';
import { authority } from '../transport/index.ts';
import { readText } from './file-credentials.ts';
import {
  type ClusterAccess,
  type OperatorContext,
  type OperatorOptions,
  contextAccess,
  loadContext,
} from './operator-context.ts';

const kubeletMount = '/var/run/secrets/kubernetes.io/serviceaccount';

const isReadable = (path: string): Promise<boolean> =>
  readText(path).then(
    () => true,
    () => false,
  );

/** Returns the context of our pod's service account (client-go `rest/config.go`, InClusterConfig), or the reason why there is none. */
const podContext = async ({
  env,
  context,
  serviceAccount = kubeletMount,
}: OperatorOptions): Promise<OperatorContext | string> => {
  if (context !== undefined && context !== '') return '--context names a context, which it does not have';
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const port = Number(env.KUBERNETES_SERVICE_PORT ?? '');
  if (host === '') return 'KUBERNETES_SERVICE_HOST is not set';
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return 'KUBERNETES_SERVICE_PORT is not a port';
  const [tokenFile, ca] = [join(serviceAccount, 'token'), join(serviceAccount, 'ca.crt')];
  for (const file of [tokenFile, ca]) if (!(await isReadable(file))) return `${file} cannot be read`;
  const entry = { name: '', path: 'service account', directory: serviceAccount };
  return {
    cluster: { ...entry, body: { server: `https://${authority({ host, port })}`, 'certificate-authority': ca } },
    user: { ...entry, body: { tokenFile } },
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
  const pod = await podContext(options);
  if (typeof pod !== 'string') return contextAccess('service account of the pod', pod, options);
  const home = homeOf(options);
  const file = home === undefined ? undefined : join(home, '.kube', 'config');
  const access = file === undefined ? undefined : await fromFiles(file, [file], options);
  if (access !== undefined) return access;
  throw new KubeconfigError(
    'none found',
    `--kubeconfig and $KUBECONFIG are not set, this is no pod with a service account (${pod}), and ` +
      `${file === undefined ? 'there is no home directory' : `${file} does not exist`}; pass --kubeconfig or set KUBECONFIG`,
  );
};
