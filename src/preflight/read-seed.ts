import type { Right } from '../kubernetes/api/access.ts';
import type { Call } from '../kubernetes/api/call.ts';
import { decodeObject, decodeString } from '../kubernetes/api/decode.ts';
import { decodeElectionLease, renewedAtMs } from '../kubernetes/api/lease.ts';
import { type ResourceRef, groupOf } from '../kubernetes/api/resource-ref.ts';
import { listKinds, listVersions, resolveKind } from '../kubernetes/client/index.ts';
import { measureSkew } from '../prober/index.ts';
import { leaseNameOf } from '../process/index.ts';
import type { SeedRead } from './checks/check.ts';
import { type FoundKind, hintAt } from './checks/kinds.ts';
import type { ProberLease, SeedAnswer } from './checks/seed.ts';
import { readNamed } from './read-objects.ts';
import { type Reader, attempt, optionsOf, send } from './reader.ts';

const seedVersion: Call<string> = {
  method: 'GET',
  path: '/version',
  decode: (json) => decodeString(decodeObject(json, 'version').gitVersion, 'version.gitVersion'),
};

/** Reads the version and the clock of the seed, with the first requests of the preflight. */
export const readVersion = async (reader: Reader): Promise<SeedRead<SeedAnswer>> => {
  const { clock } = reader;
  const about: Right = { verb: 'get', group: '', resource: 'version' };
  const read = await attempt(about, async () => {
    // The first request opens the connection; only the second one is measured.
    await send(reader, seedVersion);
    const { value: version, date, sentAt, receivedAt } = await send(reader, seedVersion);
    const roundTripMs = receivedAt - sentAt;
    const wallAtEnd = clock.now() - (clock.monotonic() - receivedAt);
    const skewMs = measureSkew({ date, wallAtEnd, roundTripMs });
    return { version, roundTripMs, ...(skewMs === undefined ? {} : { skewMs }) };
  });
  return read.ok ? read : { ok: false, error: { code: 'seed-unreachable', detail: read.error.detail } };
};

/** client-go's default lease duration, for a Lease without one. */
const usualDurationSeconds = 15;

/** Reads the Leases of all probers, by namespace. */
export const readProbers = (
  reader: Reader,
  { skewMs = 0 }: SeedAnswer,
): Promise<SeedRead<ReadonlyMap<string, ProberLease>>> =>
  readNamed(reader, {
    apiVersion: 'coordination.k8s.io/v1',
    resource: 'leases',
    name: leaseNameOf('prober'),
    decode: (json) => {
      const lease = decodeElectionLease(json);
      const { holder, durationSeconds = usualDurationSeconds } = lease;
      const ageMs = reader.clock.now() + skewMs - (renewedAtMs(lease) ?? Number.NEGATIVE_INFINITY);
      return { holder, ageMs, durationMs: durationSeconds * 1_000 };
    },
  });

/** Reads how the seed serves a kind; if it does not, with a suggestion. Every user may read that (ClusterRole `system:discovery`). */
export const readKind = (
  reader: Reader,
  wanted: Pick<ResourceRef, 'apiVersion' | 'kind'>,
): Promise<SeedRead<FoundKind>> =>
  attempt({ verb: 'get', group: groupOf(wanted), resource: '' }, async () => {
    const { client } = reader;
    const found = await resolveKind(client, wanted, optionsOf(reader));
    if (found.kind === 'served') return found;
    const kinds = await listKinds(client, wanted.apiVersion, optionsOf(reader));
    const group = groupOf(wanted);
    const versions = group === '' ? [] : await listVersions(client, group, optionsOf(reader));
    const hint = hintAt(wanted.kind, { kinds, versions });
    return { ...found, ...(hint === undefined ? {} : { hint }) };
  });
