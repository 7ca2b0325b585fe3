import { decodeLease } from '../../src/kubernetes/api/lease.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, formatMicroTime, simKinds } from '../apiserver/index.ts';
import type { WorldShoot } from '../world/index.ts';

const skewMs = 600_000;

/** Returns the error of a node's clock: nodes with odd numbers are ahead, those with even numbers behind. */
const skewOf = (lease: SimObject): number =>
  Number(lease.metadata.name.split('-').at(-1)) % 2 === 1 ? skewMs : -skewMs;

const renewTimeOf = (lease: SimObject): number => (decodeLease(lease, 'lease').renewTime ?? Number.NaN) / 1_000;

const isWrong = (lease: SimObject, clock: Clock): boolean => Math.abs(renewTimeOf(lease) - clock.now()) > skewMs / 2;

/** Returns the real time of the renewal, in milliseconds since the epoch, even if the lease has a wrong timestamp. */
export const renewedAt = (lease: SimObject, clock: Clock): number =>
  renewTimeOf(lease) - (isWrong(lease, clock) ? skewOf(lease) : 0);

/** From now on, half of the kubelets write timestamps ten minutes in the future, the others ten minutes in the past. */
export const startWrongClocks = ({ store }: WorldShoot, clock: Clock): void => {
  const skew = (lease: SimObject): void => {
    // The subscription also delivers the patch below.
    if (isWrong(lease, clock)) return;
    const renewTime = formatMicroTime(renewTimeOf(lease) + skewOf(lease));
    store.patch(simKinds.Lease, lease.metadata, (old) => ({ ...old, spec: { ...(old.spec as object), renewTime } }));
  };
  for (const lease of store.list(simKinds.Lease)) skew(lease);
  store.subscribe(simKinds.Lease, ({ type, object }) => {
    if (type !== 'DELETED') skew(object);
  });
};
