import { childObjects, optionalBoolean, optionalString } from '../kubernetes/api/decode.ts';
import { goQuote } from '../kubernetes/api/go-quote.ts';
import { findCondition } from './condition.ts';
import { type ObjectHealth, type ObjectParts, decodeParts } from './health.ts';

const stateProblem = ({ meta, conditions, status, path }: ObjectParts): string | undefined => {
  const name = goQuote(meta.name);
  if (optionalBoolean(status.ready, `${path}.status.ready`) !== true) return `etcd ${name} is not ready yet`;
  const backup = findCondition(conditions, 'BackupReady');
  if (backup === undefined || backup.status === 'True') return undefined;
  return `backup for etcd ${name} is reported as unready: ${backup.message}`;
};

/** Reads the health of an Etcd (`druid.gardener.cloud/v1alpha1`), with the last errors of etcd-druid. A backup in an unknown state counts as unready. */
export const decodeEtcdHealth = (json: unknown, at: string): ObjectHealth => {
  const parts = decodeParts(json, at);
  const errors = childObjects(parts.status, `${parts.path}.status`, 'lastErrors').map(
    ({ object, path }) => optionalString(object.description, `${path}.description`) ?? '',
  );
  const problem = stateProblem(parts);
  const isExplained = problem !== undefined && errors.length > 0;
  return { meta: parts.meta, problem: isExplained ? `${problem}: ${errors.join(', ')}` : problem };
};
