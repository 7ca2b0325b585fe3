import { stringify } from 'yaml';

/** A kubeconfig as text and as a file with the same content, readable by its owner only. */
export interface Kubeconfig {
  readonly text: string;
  readonly file: string;
}

export type KubeconfigCredentials =
  | { readonly certificatePem: string; readonly keyPem: string }
  | { readonly token: string };

export interface KubeconfigOptions {
  /** Name of the cluster and of the context. */
  readonly name: string;
  /** `https://127.0.0.1:port` */
  readonly server: string;
  readonly caPem: string;
  readonly user: string;
  readonly credentials: KubeconfigCredentials;
}

/** Returns a kubeconfig as YAML, with one context. All data is inline. */
export function kubeconfigText({ name, server, caPem, user, credentials }: KubeconfigOptions): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name: user, user: userEntry(credentials) }],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  });
}

function userEntry(credentials: KubeconfigCredentials): Readonly<Record<string, string>> {
  if ('certificatePem' in credentials) {
    return {
      'client-certificate-data': base64(credentials.certificatePem),
      'client-key-data': base64(credentials.keyPem),
    };
  }
  return credentials;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
