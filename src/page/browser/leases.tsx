import { formatAge } from '../../kubernetes/api/duration.ts';
import type { LeaseEvidence, ShootStatus } from '../../status/state/schema.ts';
import { Time, since } from './told.tsx';

/** Oldest renewal first, as in `dwd explain`; those that do not count last. */
const inOrder = (leases: readonly LeaseEvidence[]): readonly LeaseEvidence[] =>
  leases.toSorted(
    (a, b) =>
      Number(b.counted) - Number(a.counted) ||
      (b.ageMs ?? Infinity) - (a.ageMs ?? Infinity) ||
      (a.name < b.name ? -1 : 1),
  );

const words = ({ ageMs, expired, counted, leftOut = '' }: LeaseEvidence): string => {
  const age = ageMs === undefined ? 'never renewed' : formatAge(ageMs);
  return counted ? `${age}${expired ? ' expired' : ''}` : `${age}, does not count: ${leftOut}`;
};

const kindOf = ({ counted, expired }: LeaseEvidence): string => {
  if (!counted) return 'left-out';
  return expired ? 'expired' : 'renewed';
};

interface LeasesProps {
  readonly shoot: ShootStatus;
  readonly leases: readonly LeaseEvidence[];
  readonly now: number;
}

/** Shows the ages of leases when they were last read as bars, with lines at the expiry age and at KCM's grace period. */
export const Leases = ({ shoot: { leaseExpiryMs, graceMs, lookedAt, failing }, leases, now }: LeasesProps) => {
  const full = graceMs * 1.25;
  const percent = (ms: number): string => `${Math.max(0, Math.min(100, (100 * ms) / full)).toFixed(1)}%`;
  return (
    <section aria-label="Leases">
      <h3>
        Leases{' '}
        {lookedAt !== undefined && (
          <small class={failing === undefined ? '' : 'aged'}>
            as of <Time at={lookedAt} /> UTC, {since(lookedAt, now)} ago
          </small>
        )}
      </h3>
      <div class="leases" style={{ '--expiry': percent(leaseExpiryMs), '--grace': percent(graceMs) }}>
        <p class={leaseExpiryMs < full * 0.4 ? 'limits near' : 'limits'}>
          <span>expires after {formatAge(leaseExpiryMs)}</span> <span>KCM {formatAge(graceMs)}</span>
        </p>
        <ul>
          {inOrder(leases).map((lease) => (
            <li key={lease.name} class={kindOf(lease)} style={{ '--age': percent(lease.ageMs ?? full) }}>
              <span>{lease.name}</span> <span>{words(lease)}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
};
