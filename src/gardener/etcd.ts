import { childObjects, optionalBoolean, optionalString } from '../kubernetes/api/decode.ts';
import { goQuote } from '../kubernetes/api/go-quote.ts';
import { findCondition } from './condition.ts';
import { type HealthView, decodeParts } from './health.ts';

/** The health of an Etcd (`druid.gardener.cloud/v1alpha1`). */
export interface EtcdHealth extends HealthView {
  readonly ready: boolean;
  /** Descriptions of `status.lastErrors`. */
  readonly lastErrors: readonly string[];
}

export const decodeEtcdHealth = (json: unknown, path: string): EtcdHealth => {
  const { view, status } = decodeParts(json, path);
  const lastErrors = childObjects(status, `${path}.status`, 'lastErrors').map(
    (error) => optionalString(error.object.description, `${error.path}.description`) ?? '',
  );
  return { ...view, ready: optionalBoolean(status.ready, `${path}.status.ready`) ?? false, lastErrors };
};

const stateProblem = ({ meta, ready, conditions }: EtcdHealth): string | undefined => {
  const name = goQuote(meta.name);
  if (!ready) return `etcd ${name} is not ready yet`;
  const backup = findCondition(conditions, 'BackupReady');
  if (backup === undefined || backup.status === 'True') return undefined;
  return `backup for etcd ${name} is reported as unready: ${backup.message}`;
};

/**
 * Returns the problem with an Etcd, as the text after "is unhealthy: ", with the last errors of etcd-druid. A backup in an unknown state counts as unready.
 */
export const etcdProblem = (etcd: EtcdHealth): string | undefined => {
  const problem = stateProblem(etcd);
  if (problem === undefined || etcd.lastErrors.length === 0) return problem;
  return `${problem}: ${etcd.lastErrors.join(', ')}`;
};
