import { KubeconfigError, type Result } from '../kubernetes/api/errors.ts';
import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import type { Store } from '../kubernetes/cache/index.ts';

export interface ConnectDeps {
  readonly connector: ShootConnector;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
}

/** Connections to a shoot by the kubeconfig of a Secret, `namespace/name`. */
export const connectShoot = (deps: ConnectDeps, key: string): Result<ShootConnection, KubeconfigError> => {
  const text = deps.kubeconfigs.get(key);
  if (text === undefined) {
    return {
      ok: false,
      error: new KubeconfigError(`Secret ${key}`, 'there is no such Secret, or it has no key "kubeconfig"'),
    };
  }
  try {
    return { ok: true, value: deps.connector.connect(text) };
  } catch (error) {
    if (error instanceof KubeconfigError) return { ok: false, error };
    throw error;
  }
};
