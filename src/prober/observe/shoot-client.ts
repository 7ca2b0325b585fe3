import { KubeconfigError, type Result } from '../../kubernetes/api/errors.ts';
import type { ShootConnection, ShootConnector } from '../../kubernetes/api/shoot-connection.ts';
import type { Store } from '../../kubernetes/cache/index.ts';

export interface ShootClientDeps {
  readonly connector: ShootConnector;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
}

/** Returns a client of a shoot from the kubeconfig in a Secret, `namespace/name`. `dataKey` is only for error messages. Opens no connection. */
export const shootClientFor = (
  deps: ShootClientDeps,
  key: string,
  dataKey = 'kubeconfig',
): Result<ShootConnection, KubeconfigError> => {
  const text = deps.kubeconfigs.get(key);
  if (text === undefined) {
    return {
      ok: false,
      error: new KubeconfigError(`Secret ${key}`, `there is no such Secret, or it has no key "${dataKey}"`),
    };
  }
  try {
    return { ok: true, value: deps.connector.clientFor(text) };
  } catch (error) {
    if (error instanceof KubeconfigError) return { ok: false, error };
    throw error;
  }
};
