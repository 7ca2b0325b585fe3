import type { KeyPair } from './certificates.ts';

export interface KubeconfigInit {
  readonly server: string;
  /** Certificate of the authority in PEM; absent for http. */
  readonly ca?: string;
  readonly user: KeyPair | { readonly token: string };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const userLines = (user: KubeconfigInit['user']): readonly string[] => {
  if ('token' in user) return [`    token: ${JSON.stringify(user.token)}`];
  return [`    client-certificate-data: ${base64(user.certificate)}`, `    client-key-data: ${base64(user.key)}`];
};

/** Returns the YAML of a kubeconfig file with all credentials inline, as the Secrets of shoots hold it. */
export const kubeconfigText = (init: KubeconfigInit): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'current-context: simulated',
    'contexts:',
    '- name: simulated',
    '  context:',
    '    cluster: simulated',
    '    user: simulated',
    'clusters:',
    '- name: simulated',
    '  cluster:',
    `    server: ${JSON.stringify(init.server)}`,
    ...(init.ca === undefined ? [] : [`    certificate-authority-data: ${base64(init.ca)}`]),
    'users:',
    '- name: simulated',
    '  user:',
    ...userLines(init.user),
    '',
  ].join('\n');
