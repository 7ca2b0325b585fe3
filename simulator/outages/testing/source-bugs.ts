import type { Fault, Plan } from '../plan.ts';
import { kubeControllerManager } from '../../world/index.ts';
import { type Bug, type PlantedChange, type Shape, type Wrapped, changeFirst, shape } from './bug.ts';
import { withFault } from './prober-bugs.ts';

const ofSecrets =
  (isSuch: (fault: Fault) => boolean) =>
  (plan: Plan): boolean =>
    plan.source === 'secret' && withFault(1, isSuch)(plan);

const ofClusterApi =
  (isSuch: (plan: Plan) => boolean) =>
  (plan: Plan): boolean =>
    plan.source === 'cluster-api' && isSuch(plan);

const givenBack = ['a cluster that is left is given back'];

// `fillTemplate` takes strings where other wrapped functions take objects.
const firstOfFleet = 'fleet/one' as unknown as Shape;

/** Fills in the name of the namespace's first cluster for each cluster of the namespace. */
const mixedUp: PlantedChange =
  (fillTemplate) =>
  (...args) => {
    const [text, cluster] = args as unknown as readonly [string, string];
    const isMixedUp = text.endsWith(kubeControllerManager) && cluster.startsWith('fleet/');
    return isMixedUp ? fillTemplate(args[0], firstOfFleet) : fillTemplate(...args);
  };

/** Changes the result of a source's `watch`. */
const watching =
  (change: (watched: Shape) => object): PlantedChange =>
  (create) =>
  (...args) => {
    const source = shape(create(...args));
    const watch = source.watch as Wrapped;
    return { ...source, watch: (...given: Parameters<Wrapped>) => change(shape(watch(...given))) };
  };

/** Bugs of the cluster sources `secret` and `cluster-api`. */
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
    name: 'a new leader gives nothing back of a cluster that is gone',
    of: 'markedClusters',
    change: () => () => new Set(),
    breaks: givenBack,
    among: ofClusterApi(
      ({ elected, faults }) =>
        elected && ['cluster-gone', 'kill'].every((kind) => faults.some(({ fault }) => fault.kind === kind)),
    ),
  },
  {
    name: 'a Namespace that is being deleted is probed on',
    of: 'decideSecretLifecycle',
    change: changeFirst(() => ({ namespaceDeleting: false })),
    breaks: ['held while its Secret is missing', 'restored in the end'],
    among: ofSecrets((fault) => fault.kind === 'namespace-deletion'),
  },
  {
    name: 'a paused Cluster is probed on',
    of: 'decideCapiLifecycle',
    change: changeFirst(() => ({ paused: false })),
    breaks: givenBack,
    among: ofClusterApi(({ faults }) => faults.some(({ fault }) => fault.kind === 'cluster-paused')),
  },
  {
    name: 'a Machine that is Deleting or Failed counts',
    of: 'decodeCapiMachine',
    change:
      (decode) =>
      (...args) => ({ ...shape(decode(...args)), phase: 'Running', deleting: false }),
    breaks: ['no scale-down without evidence'],
    among: ofClusterApi(({ faults }) => faults.some(({ fault }) => fault.kind === 'not-candidates')),
  },
  {
    name: 'the first cluster of a namespace is held for each',
    of: 'fillTemplate',
    change: mixedUp,
    breaks: ['no scale-down without evidence', 'protected in time'],
    among: ofClusterApi(() => true),
  },
];
