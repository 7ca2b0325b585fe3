import { formatAge } from '../../kubernetes/api/duration.ts';
import type { LeaseEvidence, PauseInForce, ShootFacts } from './schema.ts';

/** Formats a timestamp as `14:00:00`, in UTC. */
export const clockTime = (time: string): string => time.slice(11, 19);

export const plural = (count: number, one: string): string => `${String(count)} ${one}${count === 1 ? '' : 's'}`;

/** Returns a text by which those that differ only in numbers are equal: a countdown is no news. */
export const withoutNumbers = (text: string): string => text.replace(/\d+(?:\.\d+)?/g, '#');

/** Lists the names of resources. */
export const listed = (resources: readonly { readonly name: string }[]): string =>
  resources.map(({ name }) => name).join(', ');

/** Describes a pause: `until 2026-01-01T14:00:00Z: LB maintenance (kim)`. */
export const pauseInWords = ({ until, reason, by }: PauseInForce): string =>
  `until ${until ?? 'it is taken back'}${reason === '' ? '' : `: ${reason}`}${by === '' ? '' : ` (${by})`}`;

/** Returns the leases by the number that counts: `6/6 silent for 22s`, `4/6 expired`; after a failure of the API server also from when on silence counts. */
export const leasesInWords = ({
  candidates,
  expired,
  silentForMs,
  excusedUntil,
  lookedAt,
  nodes,
}: ShootFacts): string => {
  if (lookedAt === undefined) return 'its leases were not read yet';
  if (candidates === 0) return nodes === 0 ? 'it has no nodes' : 'no lease counts';
  const all = String(candidates);
  const excuse =
    excusedUntil === undefined ? '' : `: silence counts from ${clockTime(excusedUntil)}, when its API server was back`;
  return silentForMs === undefined
    ? `${String(expired)}/${all} expired${excuse}`
    : `${all}/${all} silent for ${formatAge(silentForMs)}${excuse}`;
};

/** Returns the same with the time of the look, for a shoot that cannot be seen now. */
export const asOf = (facts: ShootFacts): string =>
  facts.lookedAt === undefined
    ? 'its leases were never read'
    : `as of ${clockTime(facts.lookedAt)} ${leasesInWords(facts)}`;

/** Says why a shoot cannot be seen: the error, and the thing that it is about. */
export const canNotSee = ({ failing, access }: ShootFacts): string => {
  if (failing === undefined) return '';
  const { kind, reason, read } = failing;
  const what = read === 'leases' ? '' : `its ${read} cannot be listed: `;
  if (access === undefined) return `${what}${reason}`;
  const { secret, key, server } = access;
  if (kind === 'credentials') {
    return `${what}${reason}${reason.includes(secret) ? '' : ` (Secret ${secret}, key ${key})`}`;
  }
  return server === undefined || read === 'machines' ? `${what}${reason}` : `${what}${reason} (${server})`;
};

/**
 * What a lease counted as when it was last read. A late one is older than the limit and has not expired: its silence is excused until its API server was
 * back, or its age rests on one clock alone.
 */
export type LeaseState = 'left out' | 'expired' | 'late' | 'renewed';

export const stateOfLease = (
  { counted, expired, ageMs = Number.POSITIVE_INFINITY }: LeaseEvidence,
  { leaseExpiryMs }: Pick<ShootFacts, 'leaseExpiryMs'>,
): LeaseState => {
  if (!counted) return 'left out';
  if (expired) return 'expired';
  return ageMs < leaseExpiryMs ? 'renewed' : 'late';
};
