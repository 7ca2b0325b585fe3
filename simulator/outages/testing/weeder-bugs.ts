import type { Plan } from '../plan.ts';
import { type Bug, type PlantedChange, type Shape, shape } from './bug.ts';

const isWeeders = ({ component }: Plan): boolean => component === 'weeder';

type Seen = Shape & { readonly pod: Shape };

/** Changes the pods that `judgePods` receives. */
const pods =
  (change: (pod: Shape) => Shape): PlantedChange =>
  (judgePods) =>
  (seen, ...rest) =>
    judgePods(
      shape((seen as unknown as readonly Seen[]).map(({ pod, ...others }) => ({ ...others, pod: change(pod) }))),
      ...rest,
    );

type Owners = ReadonlyMap<string, Shape & { readonly batch: ReadonlyMap<string, unknown> }>;

/** Changes the owners that `judgePods` receives. */
const owners =
  (change: (owners: Owners, uids: ReadonlySet<unknown>) => Owners): PlantedChange =>
  (judgePods) =>
  (seen = {}, known = {}, ...rest) => {
    const uids = new Set((seen as unknown as readonly Seen[]).map(({ pod }) => pod.uid));
    return judgePods(seen, shape(change(known as unknown as Owners, uids)), ...rest);
  };

const withoutUnseen = (known: Owners, uids: ReadonlySet<unknown>): Owners =>
  new Map(
    [...known].map(([uid, owner]) => [
      uid,
      { ...owner, batch: new Map([...owner.batch].filter(([pod]) => uids.has(pod))) },
    ]),
  );

/** Changes the observation of a service that `judgeService` receives. */
const service =
  (change: (observed: Shape, before: Shape | undefined) => Shape): PlantedChange =>
  (judgeService) =>
  (before, observed = {}) =>
    judgeService(before, change(observed, before));

const imprecise: PlantedChange = (deletePod) => (pod) => {
  const call = shape(deletePod(pod));
  return { ...call, body: { ...shape(call.body), preconditions: undefined } };
};

const oneScope: PlantedChange = (planWatches) => (needed, open) =>
  planWatches(shape((needed as unknown as readonly Shape[]).slice(0, 1)), open);

const unclosed: PlantedChange =
  (openPodWatch) =>
  (...args) =>
    Object.assign(shape(openPodWatch(...args)), { close: () => Promise.resolve() });

const only = ['weeds only'];
const late = ['weeded in time'];
const loop = ['never the crash loop'];

const found: readonly Bug[] = [
  {
    name: 'pods that run are deleted',
    of: 'judgePods',
    change: pods((pod) => ({ ...pod, crashLooping: ['main'] })),
    breaks: only,
  },
  {
    name: 'pods that nobody would bring back are deleted',
    of: 'judgePods',
    change: pods((pod) => ({ controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', uid: 'none' }, ...pod })),
    breaks: only,
    among: ({ component, faults }) =>
      component === 'weeder' && faults.some(({ fault }) => fault.kind === 'stray-pod' && fault.what === 'unowned'),
  },
  {
    name: 'owners are not waited for',
    of: 'judgePods',
    change: owners(() => new Map()),
    breaks: loop,
  },
  {
    name: 'answers are not waited for',
    of: 'judgePods',
    change: owners(withoutUnseen),
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
    of: 'judgeService',
    change: service((observed) => ({ ...observed, watchDurationMs: 1e7 })),
    breaks: [...only, 'nothing held at rest'],
  },
  {
    name: 'a service that is lost is still weeded for',
    of: 'judgeService',
    change: service((observed, before) => (before?.ready === true ? { ...observed, ready: true } : observed)),
    breaks: only,
  },
  {
    name: 'a service that comes back is overlooked',
    of: 'judgeService',
    change:
      (judgeService) =>
      (before, observed = {}) =>
        judgeService(before ?? { ready: observed.ready }, observed),
    breaks: late,
  },
  { name: 'one selector is watched, and no other', of: 'planWatches', change: oneScope, breaks: late },
  {
    name: 'watches of weedings that are over stay open',
    of: 'openPodWatch',
    change: unclosed,
    breaks: ['nothing held at rest'],
  },
];

export const weederBugs: readonly Bug[] = found.map((bug) => ({ among: isWeeders, ...bug }));
