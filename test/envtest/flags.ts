/** Command-line flags by name, without the dashes. */
export type ServerFlags = Readonly<Record<string, string>>;

export function toArguments(flags: ServerFlags): readonly string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}

export interface EtcdAddresses {
  readonly directory: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
}

/** Returns the flags of a single etcd member that does not wait for the disk. */
export function etcdFlags({ directory, clientUrl, peerUrl }: EtcdAddresses): ServerFlags {
  return {
    name: 'envtest',
    'data-dir': directory,
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `envtest=${peerUrl}`,
    'unsafe-no-fsync': 'true',
    'heartbeat-interval': '50',
    'election-timeout': '250',
    'snapshot-count': '5000',
    // As in kubeadm: the API server's caches, and so its bookmarks, advance even if none of their objects change.
    'watch-progress-notify-interval': '5s',
    'log-level': 'warn',
  };
}

export interface ApiServerPlace {
  readonly etcdUrl: string;
  readonly port: number;
  /** Returns the path of a file of `pkiFiles`. */
  readonly pki: (file: keyof typeof pkiFiles) => string;
}

export const pkiFiles = {
  ca: 'ca.crt',
  serverCertificate: 'server.crt',
  serverKey: 'server.key',
  tokenPublicKey: 'service-account.pub',
  tokenPrivateKey: 'service-account.key',
} as const;

export function apiServerFlags({ etcdUrl, port, pki }: ApiServerPlace): ServerFlags {
  return {
    'etcd-servers': etcdUrl,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(port),
    // A loopback address is not a valid endpoint of the `kubernetes` service, and nothing uses that service.
    'endpoint-reconciler-type': 'none',
    'service-cluster-ip-range': '10.0.0.0/24',
    'client-ca-file': pki('ca'),
    'tls-cert-file': pki('serverCertificate'),
    'tls-private-key-file': pki('serverKey'),
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': pki('tokenPublicKey'),
    'service-account-signing-key-file': pki('tokenPrivateKey'),
    'authorization-mode': 'RBAC',
    'allow-privileged': 'true',
    // This plugin requires a default service account for every pod, and no controller runs that would create it.
    'disable-admission-plugins': 'ServiceAccount',
    profiling: 'false',
  };
}
