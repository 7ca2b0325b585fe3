import { findCondition } from './conditions.ts';
import { optionalBoolean } from './decode.ts';
import { goQuote } from './go-quote.ts';
import { type HealthView, decodeParts } from './health-objects.ts';

/** An Etcd (`druid.gardener.cloud/v1alpha1`). */
export interface EtcdHealth extends HealthView {
  readonly ready: boolean;
}

export const decodeEtcdHealth = (json: unknown, path: string): EtcdHealth => {
  const { view, status } = decodeParts(json, path);
  return { ...view, ready: optionalBoolean(status.ready, `${path}.status.ready`) ?? false };
};

/** What is wrong with an Etcd, in the words that follow "is unhealthy: ". A backup that is not known to be ready counts as unready. */
export const etcdProblem = ({ meta, ready, conditions }: EtcdHealth): string | undefined => {
  const name = goQuote(meta.name);
  if (!ready) return `etcd ${name} is not ready yet`;
  const backup = findCondition(conditions, 'BackupReady');
  if (backup === undefined || backup.status === 'True') return undefined;
  return `backup for etcd ${name} is reported as unready: ${backup.message}`;
};
