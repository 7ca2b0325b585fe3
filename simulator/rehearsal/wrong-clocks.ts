import { decodeLease } from '../../src/kubernetes/api/lease.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, formatMicroTime, simKinds } from '../apiserver/index.ts';
import type { WorldShoot } from '../world/index.ts';

const skewMs = 600_000;

/** The first node is ahead of the others' time, the second behind it, and so on. */
const skewOf = (lease: SimObject): number =>
  Number(lease.metadata.name.split('-').at(-1)) % 2 === 1 ? skewMs : -skewMs;

const renewTimeOf = (lease: SimObject): number => (decodeLease(lease, 'lease').renewTime ?? Number.NaN) / 1_000;

const isWrong = (lease: SimObject, clock: Clock): boolean => Math.abs(renewTimeOf(lease) - clock.now()) > skewMs / 2;

/** When a kubelet wrote the lease, milliseconds since the epoch, whatever it says. */
export const renewedAt = (lease: SimObject, clock: Clock): number =>
  renewTimeOf(lease) - (isWrong(lease, clock) ? skewOf(lease) : 0);

/** Half of the kubelets write timestamps of ten minutes ahead, the others of ten minutes ago, from now on. */
export const startWrongClocks = ({ store }: WorldShoot, clock: Clock): void => {
  const skew = (lease: SimObject): void => {
    // What was written here is heard of here.
    if (isWrong(lease, clock)) return;
    const renewTime = formatMicroTime(renewTimeOf(lease) + skewOf(lease));
    store.patch(simKinds.Lease, lease.metadata, (old) => ({ ...old, spec: { ...(old.spec as object), renewTime } }));
  };
  for (const lease of store.list(simKinds.Lease)) skew(lease);
  store.subscribe(simKinds.Lease, ({ type, object }) => {
    if (type !== 'DELETED') skew(object);
  });
};
