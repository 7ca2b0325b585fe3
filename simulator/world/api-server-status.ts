import { type SimRef, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import type { WorldServer } from './endpoint.ts';
import { wantedOf, withStatus } from './workloads.ts';

/**
 * Keeps the status of a kube-apiserver's Deployment up to date if its pods are not simulated: a program that has exited soon becomes
 * unavailable, a program that hangs only after its readiness probes have failed. `store` is the seed's.
 */
export const startApiServerStatus = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  { ref, api }: { readonly ref: SimRef; readonly api: WorldServer },
): (() => void) => {
  let cancel: () => void = () => undefined;

  const show = (isAvailable: boolean): void => {
    store.patch(simKinds.Deployment, ref, (deployment) => {
      const count = isAvailable ? wantedOf(deployment) : 0;
      return withStatus(deployment, { readyReplicas: count, availableReplicas: count });
    });
  };

  const unsubscribe = api.onReachability((reachability) => {
    const { apiServerGoneMs, apiServerHungMs, apiServerBackMs } = timing;
    const delays = { refused: apiServerGoneMs, silent: apiServerHungMs, open: apiServerBackMs };
    cancel();
    cancel = clock.timer(delays[reachability], () => show(reachability === 'open'));
  });
  return () => {
    unsubscribe();
    cancel();
  };
};
