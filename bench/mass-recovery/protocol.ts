export const etcdService = 'etcd-main-client';
/** Crash-looping pods that depend on it, per shoot. */
export const podsPerShoot = 2;

/** What the driver tells the process that serves the world. */
export type Order = 'recover' | 'report';

export interface Report {
  /** When each deleted pod was marked for deletion, milliseconds since the epoch. */
  readonly deletedAt: readonly number[];
  /** By `verb resource`, since the beginning. */
  readonly requests: Readonly<Record<string, number>>;
  /** TCP connections so far. */
  readonly connections: number;
}

export type Answer =
  | { readonly order: 'ready'; readonly kubeconfig: string }
  | { readonly order: 'recover'; readonly at: number }
  | (Report & { readonly order: 'report' });
