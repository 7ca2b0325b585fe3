import type { Plan } from '../plan.ts';
import { type Bug, type PlantedChange, type Shape, shape } from './bug.ts';

const isWeeders = ({ component }: Plan): boolean => component === 'weeder';

type Seen = Shape & { readonly pod: Shape };

/** Changes the pods that `decide` receives. */
const pods =
  (change: (pod: Shape) => Shape): PlantedChange =>
  (decide) =>
  (seen, ...rest) =>
    decide(
      shape((seen as unknown as readonly Seen[]).map(({ pod, ...others }) => ({ ...others, pod: change(pod) }))),
      ...rest,
    );

/** Changes the state that `decide` receives. */
const state =
  (change: (state: Shape, uids: ReadonlySet<unknown>) => Shape): PlantedChange =>
  (decide) =>
  (seen = {}, input = {}, ...rest) => {
    const uids = new Set((seen as unknown as readonly Seen[]).map(({ pod }) => pod.uid));
    const known = shape(input.state);
    return decide(seen, { ...input, state: { ...known, ...change(known, uids) } }, ...rest);
  };

const withoutUnseen = (attempts: ReadonlyMap<string, unknown>, uids: ReadonlySet<unknown>): Shape => ({
  attempts: new Map([...attempts].filter(([uid]) => uids.has(uid))),
});

/** Changes the observation of a service that `advanceService` receives. */
const service =
  (change: (observed: Shape, before: Shape | undefined) => Shape): PlantedChange =>
  (advanceService) =>
  (before, observed = {}) =>
    advanceService(before, change(observed, before));

const imprecise: PlantedChange = (deletePod) => (pod) => {
  const call = shape(deletePod(pod));
  return { ...call, body: { ...shape(call.body), preconditions: undefined } };
};

const oneScope: PlantedChange = (planScopes) => (needs, before) =>
  planScopes(shape((needs as unknown as readonly Shape[]).slice(0, 1)), before);

const unclosed: PlantedChange =
  (createPodWatches) =>
  (...args) => {
    const watches = createPodWatches(...args) as { open(scope: unknown): Shape };
    return { ...watches, open: (scope: unknown) => ({ ...watches.open(scope), close: () => undefined }) };
  };

const only = ['weeds only'];
const late = ['weeded in time'];
const loop = ['never the crash loop'];

const found: readonly Bug[] = [
  {
    name: 'pods that run are deleted',
    of: 'weeder/decide',
    change: pods((pod) => ({ ...pod, crashLooping: ['main'] })),
    breaks: only,
  },
  {
    name: 'pods that nobody would bring back are deleted',
    of: 'weeder/decide',
    change: pods((pod) => ({ controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', uid: 'none' }, ...pod })),
    breaks: only,
    among: ({ component, faults }) =>
      component === 'weeder' && faults.some(({ fault }) => fault.kind === 'stray-pod' && fault.what === 'unowned'),
  },
  {
    name: 'owners are not waited for',
    of: 'weeder/decide',
    change: state(() => ({ owners: new Map() })),
    breaks: loop,
  },
  {
    name: 'answers are not waited for',
    of: 'weeder/decide',
    change: state(({ attempts }, uids) => withoutUnseen(attempts as ReadonlyMap<string, unknown>, uids)),
    breaks: loop,
    knownPlan: 47,
  },
  {
    name: 'pods are deleted in whatever state',
    of: 'deletePod',
    change: imprecise,
    breaks: ['deletes what was seen'],
  },
  {
    name: 'weedings last for ever',
    of: 'advanceService',
    change: service((observed) => ({ ...observed, watchDurationMs: 1e7 })),
    breaks: [...only, 'nothing held at rest'],
  },
  {
    name: 'a service that is lost is still weeded for',
    of: 'advanceService',
    change: service((observed, before) =>
      before?.ready === true ? { ...observed, ready: true, wasUnready: false } : observed,
    ),
    breaks: only,
  },
  {
    name: 'a service that comes back is overlooked',
    of: 'advanceService',
    change:
      (advanceService) =>
      (before, observed = {}) =>
        advanceService(before ?? { ready: observed.ready }, { ...observed, wasUnready: false }),
    breaks: late,
  },
  { name: 'one selector is watched, and no other', of: 'planScopes', change: oneScope, breaks: late },
  {
    name: 'watches of weedings that are over stay open',
    of: 'createPodWatches',
    change: unclosed,
    breaks: ['nothing held at rest'],
  },
];

export const weederBugs: readonly Bug[] = found.map((bug) => ({ among: isWeeders, ...bug }));
