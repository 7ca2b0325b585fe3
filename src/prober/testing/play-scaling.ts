import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../annotations/scaling-annotations.ts';
import { type RequestFate, requestsIn } from './cases.ts';
import { type HarnessOptions, SeedHarness } from './seed-harness.ts';
import { type ModelObject, deployment, etcd } from './seed-model.ts';

export const kcm = deployment('kcm');
export const main = etcd('main');
/** State of a resource that we hold, with 3 replicas before. */
export const isHeld = {
  annotations: { [meltdownProtectionAnnotation]: '', [replicasAnnotation]: '3' },
  replicas: 0,
};

/** Runs a shoot's loop against a seed in memory until the virtual time `until`, in milliseconds. */
export const run = (options: HarnessOptions, until = 600_000) => {
  const harness = new SeedHarness(options);
  harness.runUntil(until);
  const object = (ref: typeof kcm): Pick<ModelObject, 'annotations' | 'replicas'> | undefined => {
    const found = harness.model.get(refKey(ref));
    return found && { annotations: found.annotations, replicas: found.replicas };
  };
  return {
    harness,
    sent: requestsIn(harness.log),
    end: harness.ends[0],
    ends: harness.ends.map(({ end }) => end),
    object,
  };
};

/** Fates of the first requests; all others get a response after 20 ms. */
export const fates =
  (...given: readonly Partial<RequestFate>[]) =>
  (index: number): RequestFate => ({ latencyMs: 20, ...given[index] });
