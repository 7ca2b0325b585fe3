import type { Fault, Plan } from '../plan.ts';
import { type Bug, type PlantedChange, type Shape, type Wrapped, changeFirst, shape } from './bug.ts';
import { withFault } from './prober-bugs.ts';

const ofSecrets =
  (isSuch: (fault: Fault) => boolean) =>
  (plan: Plan): boolean =>
    plan.source === 'secret' && withFault(1, isSuch)(plan);

/** Changes the result of a source's `watch`. */
const watching =
  (change: (watched: Shape) => object): PlantedChange =>
  (create) =>
  (...args) => {
    const source = shape(create(...args));
    const watch = source.watch as Wrapped;
    return { ...source, watch: (...given: Parameters<Wrapped>) => change(shape(watch(...given))) };
  };

/** Bugs of the cluster source `secret`. */
export const sourceBugs: readonly Bug[] = [
  {
    name: 'what is held is restored as soon as its Secret is away',
    of: 'decideSecretLifecycle',
    change: changeFirst(({ secret }) => (secret === 'missing' ? { secret: 'gone' } : {})),
    breaks: ['held while its Secret is missing'],
    among: ofSecrets((fault) => fault.kind === 'credentials' && fault.how === 'missing'),
  },
  {
    name: 'a process or configuration that begins without a Secret does not wait for it',
    of: 'secretSource',
    change: watching(({ awaitSince: _, ...watched }) => watched),
    breaks: ['held while its Secret is missing'],
    among: ofSecrets((fault) => fault.kind === 'credentials' && fault.how === 'missing'),
  },
  {
    name: 'a Namespace that is being deleted is probed on',
    of: 'decideSecretLifecycle',
    change: changeFirst(() => ({ namespaceDeleting: false })),
    breaks: ['held while its Secret is missing', 'restored in the end'],
    among: ofSecrets((fault) => fault.kind === 'namespace-deletion'),
  },
];
