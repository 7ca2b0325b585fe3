import { reviewAccess, reviewAccessOf } from '../kubernetes/api/access.ts';
import type { Call } from '../kubernetes/api/call.ts';
import {
  childObject,
  childObjects,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { decodeElectionLease } from '../kubernetes/api/lease.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { podOfHolder } from '../kubernetes/api/pod-of-holder.ts';
import { type NamespacedName, type ResourceRef, groupOf } from '../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { listKinds, listVersions, resolveKind } from '../kubernetes/client/index.ts';
import { type ProberSettings, measureSkew, neededByProber } from '../prober/index.ts';
import { isLed, leaseNameOf } from '../process/index.ts';
import type { NeededRight } from '../process/rights/index.ts';
import { type CheckedRights, type FoundKind, type SeedAnswer, hintAt } from './checks/seed.ts';
import { readNamed } from './read-objects.ts';
import { ReadFailed, type Reader, attempt, optionsOf, send } from './reader.ts';

const seedVersion: Call<string> = {
  method: 'GET',
  path: '/version',
  decode: (json) => decodeString(decodeObject(json, 'version').gitVersion, 'version.gitVersion'),
};

/** Reads the version and the clock of the seed, with the first requests of the preflight. */
export const readVersion = async (reader: Reader): Promise<SeedAnswer> => {
  const { clock } = reader;
  try {
    // The first request opens the connection; only the second one is measured.
    await send(reader, seedVersion);
    const { value: version, date, sentAt, receivedAt } = await send(reader, seedVersion);
    const roundTripMs = receivedAt - sentAt;
    const wallAtEnd = clock.now() - (clock.monotonic() - receivedAt);
    return { version, roundTripMs, skewMs: measureSkew({ date, wallAtEnd, roundTripMs }) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ReadFailed({ code: 'seed-unreachable', detail: error.message });
  }
};

/** Reads the leaders of all probers, by namespace; empty where none leads. */
export const readProbers = (reader: Reader, { skewMs = 0 }: SeedAnswer): Promise<ReadonlyMap<string, string>> =>
  readNamed(reader, {
    apiVersion: 'coordination.k8s.io/v1',
    resource: 'leases',
    name: leaseNameOf('prober'),
    decode: (json) => {
      const lease = decodeElectionLease(json);
      return isLed(lease, reader.clock.now() + skewMs) ? lease.holder : '';
    },
  });

const decodePod = (json: unknown, path: string) => {
  const pod = decodeObject(json, path);
  const { name, deleting, labels } = decodeMeta(pod, path);
  const [container] = childObjects(childObject(pod, path, 'spec'), `${path}.spec`, 'containers');
  const image = container && optionalString(container.object.image, `${container.path}.image`);
  const phase = optionalString(childObject(pod, path, 'status').phase, `${path}.status.phase`);
  const isGone = deleting || phase === 'Succeeded' || phase === 'Failed';
  // It changes with a roll-out, and the others are those of the Deployment.
  const own = Object.entries(labels).filter(([key]) => key !== 'pod-template-hash');
  return { name, image, isGone, labels: JSON.stringify(own.sort()) };
};

/** Reads the images of the leading pod and of the others of its Deployment, by pod; none if no pod of this name leads. */
export const readImages = (reader: Reader, namespace: string, leader: string): Promise<ReadonlyMap<string, string>> =>
  attempt({ verb: 'list', group: '', resource: 'pods', namespace }, async () => {
    const path = resourcePath({ apiVersion: 'v1', resource: 'pods', namespace });
    const { value } = await send(reader, listCall({ path, decode: decodePod }));
    const leading = value.find(({ name }) => name === podOfHolder(leader));
    const replicas = value.filter(({ labels, isGone }) => labels === leading?.labels && !isGone);
    return new Map(replicas.flatMap(({ name, image }) => (image === undefined ? [] : [[name, image] as const])));
  });

/** Reads how the seed serves a kind; if it does not, with a suggestion. Every user may read that (ClusterRole `system:discovery`). */
export const readKind = (reader: Reader, wanted: Pick<ResourceRef, 'apiVersion' | 'kind'>): Promise<FoundKind> =>
  attempt({ verb: 'get', group: groupOf(wanted), resource: '' }, async () => {
    const { client } = reader;
    const found = await resolveKind(client, wanted, optionsOf(reader));
    if (found.kind === 'served') return found;
    const kinds = await listKinds(client, wanted.apiVersion, optionsOf(reader));
    const group = groupOf(wanted);
    const versions = group === '' ? [] : await listVersions(client, group, optionsOf(reader));
    return { ...found, hint: hintAt(wanted.kind, { kinds, versions }) };
  });

/** Owner of the rights to check: a ServiceAccount, or the user who runs the command. */
export type RightsOf = NamespacedName | 'self';

/** Reviews each right that the settings need. A review is a POST that stores nothing. */
export const readRights = (reader: Reader, settings: ProberSettings, of: RightsOf): Promise<CheckedRights> => {
  const resource = of === 'self' ? 'selfsubjectaccessreviews' : 'subjectaccessreviews';
  return attempt({ verb: 'create', group: 'authorization.k8s.io', resource }, async () => {
    const needed = await neededByProber(settings, { client: reader.client, options: optionsOf(reader) });
    const missing: NeededRight[] = [];
    for (const need of needed) {
      const review = of === 'self' ? reviewAccess(need.right) : reviewAccessOf(of, need.right);
      if (!(await send(reader, review)).value) missing.push(need);
    }
    return { needed: needed.length, missing };
  });
};
