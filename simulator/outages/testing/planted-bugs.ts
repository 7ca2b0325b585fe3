import { ignoreScalingAnnotation } from '../../../src/annotations/scaling-annotations.ts';
import type { ProbeSettings } from '../../../src/prober/judge/judgement.ts';
import type { Fault, Plan } from '../plan.ts';

// Bugs that tests plant to prove that each invariant finds one. Each is a wrapper around one function. The types of the function are
// internal to its component; here they are JSON-like data.

type Shape = Readonly<Record<string, unknown>>;
type Wrapped = (...args: (Shape | undefined)[]) => unknown;
type Change = (original: Wrapped) => Wrapped;

export interface Bug {
  readonly name: string;
  /** Name of the wrapped function. */
  readonly of: string;
  readonly change: Change;
  /** Invariants. The first violation must be of one of them. */
  readonly breaks: readonly string[];
  /** Selects the plans that must find the bug. */
  readonly among: (plan: Plan) => boolean;
}

const shape = (value: unknown): Shape => value as Shape;

const ofProber = ({ component }: Plan): boolean => component === 'prober';
const ofPair = ({ component, replicas }: Plan): boolean => component === 'prober' && replicas > 1;
const withFault =
  (least: number, kind: Fault['kind']) =>
  ({ component, faults }: Plan): boolean =>
    component === 'prober' && faults.filter(({ fault }) => fault.kind === kind).length >= least;

/** Selects plans in which only the watchdog would restore a shoot that ends. */
const endsForGood = ({ faults }: Plan): boolean =>
  faults.some(({ fault }) =>
    fault.kind === 'no-workers' ? fault.isForGood : 'how' in fault && fault.how === 'removed',
  );

/** Changes the decision of `probe`. */
const decision =
  (change: (decision: Shape, now: number) => Shape): Change =>
  (probe) =>
  async (deps = {}, request) => {
    const result = shape(await probe(deps, request));
    const clock = deps.clock as { monotonic(): number };
    return { ...result, decision: change(shape(result.decision), clock.monotonic()) };
  };

/** Changes the settings of `probe`. */
const settings =
  (change: (settings: ProbeSettings) => Partial<ProbeSettings>): Change =>
  (probe) =>
  (deps, request = {}) => {
    const inputOf = request.input as () => Shape;
    const input = (): Shape => {
      const known = inputOf();
      const before = known.settings as ProbeSettings;
      return { ...known, settings: { ...before, ...change(before) } };
    };
    return probe(deps, { ...request, input });
  };

const unconditional: Change =
  (act) =>
  (deps = {}, request = {}) => {
    const action = shape(request.action);
    if (action.kind !== 'write') return act(deps, request);
    const base = { ...shape(shape(action.write).base), resourceVersion: '' };
    return act(deps, { ...request, action: { ...action, write: { ...shape(action.write), base } } });
  };

const leaveTimer = ({ clock }: Shape): void =>
  (clock as { timer(ms: number, callback: () => void): void }).timer(1e9, () => undefined);

/** Makes the created prober leave a timer behind when it is closed. */
const leakingAtEnd: Change =
  (createConfiguredProber) =>
  (configured, deps = {}) => {
    const prober = shape(createConfiguredProber(configured, deps));
    const close = prober.close as () => Promise<void>;
    return { ...prober, close: () => close().then(() => leaveTimer(deps)) };
  };

const leaking: Change =
  (act) =>
  (deps = {}, request) => {
    leaveTimer(deps);
    return act(deps, request);
  };

const heedless: Change =
  (planPatch) =>
  (resource, state = {}, input) => {
    const { [ignoreScalingAnnotation]: _, ...annotations } = shape(state.annotations);
    return planPatch(resource, { ...state, annotations }, input);
  };

const asLeader: Change =
  (createConfiguredProber) =>
  (configured, deps = {}) => {
    const clientOf = deps.seedFor as (mayWrite: () => boolean) => unknown;
    const role = { leads: true, mayStandIn: false };
    return createConfiguredProber(configured, { ...deps, role: () => role, client: clientOf(() => true) });
  };

const usurping: Change =
  (electionState) =>
  (memory = {}, ...rest) => {
    const state = shape(electionState(memory, ...rest));
    const isTheirs = state.kind === 'held' && memory.lease !== undefined;
    return isTheirs ? { kind: 'free', lease: memory.lease } : state;
  };

const afterLoss = 'no write after leadership is lost';
const twoLeaders = 'never two leaders writing';

export const bugs: readonly Bug[] = [
  {
    name: 'half the threshold is enough',
    of: 'probe',
    change: settings(({ nodeLeaseFailureFraction: is }) => ({ nodeLeaseFailureFraction: is / 2 })),
    breaks: ['no scale-down while kubelets renew'],
    among: ofProber,
  },
  {
    name: 'late kubelets are not waited for',
    of: 'probe',
    change: settings(() => ({ landingTimeoutMs: 0 })),
    breaks: ['no node lost'],
    among: withFault(1, 'nat-gateway'),
  },
  {
    name: 'a standby leaves an outage to the leader',
    of: 'permission',
    change:
      (permission) =>
      (desired, context = {}) =>
        permission(desired, { ...context, role: { ...shape(context.role), mayStandIn: false } }),
    breaks: ['no node lost'],
    among: ofPair,
  },
  {
    name: 'nothing is restored after the end of a shoot',
    of: 'permission',
    change:
      (permission) =>
      (desired = {}, context) =>
        desired.scope === 'held' ? 'refused' : permission(desired, context),
    breaks: ['restored in the end'],
    among: endsForGood,
  },
  {
    name: 'writes have no precondition',
    of: 'act',
    change: unconditional,
    breaks: ['no count lost'],
    among: (plan) => plan.latencyMs >= 300 && withFault(3, 'autoscaler')(plan),
  },
  {
    name: 'a pause is not heeded',
    of: 'permission',
    change: (permission) => (desired, context) => permission(desired, { ...context, pausedUntil: undefined }),
    breaks: ['paused and ignored are untouched'],
    among: withFault(1, 'protection-pause'),
  },
  {
    name: 'ignore-scaling is ignored',
    of: 'planPatch',
    change: heedless,
    breaks: ['paused and ignored are untouched'],
    among: withFault(1, 'ignore-scaling'),
  },
  {
    name: 'a dry run writes',
    of: 'act',
    change: (act) => (deps, request) => act({ ...deps, dryRun: false }, request),
    breaks: ['a dry run writes nothing'],
    among: (plan) => ofProber(plan) && plan.dryRun,
  },
  {
    name: 'probes have no pause in between',
    of: 'probe',
    change: decision((made, now) => ({ ...made, nextRunAt: now + 10 })),
    breaks: ['no storm of requests'],
    among: ofProber,
  },
  {
    name: 'each request leaves a timer behind',
    of: 'act',
    change: leaking,
    breaks: ['nothing held at rest'],
    among: ofProber,
  },
  {
    name: 'a prober that ends leaves a timer behind',
    of: 'createConfiguredProber',
    change: leakingAtEnd,
    breaks: ['nothing leaks'],
    among: ofProber,
  },
  {
    name: 'a standby does all that a leader does',
    of: 'createConfiguredProber',
    change: asLeader,
    breaks: [twoLeaders, afterLoss],
    among: ofPair,
  },
  {
    name: 'the renew deadline is ignored',
    of: 'leadsUntil',
    change: (leadsUntil) => (memory, deadlineMs) => Number(leadsUntil(memory, deadlineMs)) + 60_000,
    breaks: [afterLoss],
    among: ({ elected }) => elected,
  },
  {
    name: 'a leader gives up one second after each renewal',
    of: 'leadsUntil',
    change: (leadsUntil) => (memory, deadlineMs) => Number(leadsUntil(memory, deadlineMs)) - 9_000,
    breaks: ['no crash'],
    among: ({ elected }) => elected,
  },
  {
    name: 'a Lease is taken before it has run out',
    of: 'electionState',
    change: usurping,
    breaks: [twoLeaders],
    among: (plan) => ofPair(plan) && plan.latencyMs > 0,
  },
  {
    name: 'writes go on after leadership is lost',
    of: 'fenceWrites',
    change: () => (kube) => kube,
    breaks: [afterLoss, twoLeaders],
    among: ({ elected, faults }) => elected && faults.some(({ fault }) => fault.kind === 'pause'),
  },
];

let planted: string | undefined;

/** Activates the bug of that name from now on, and no other. */
export const plant = (name: string | undefined): void => {
  planted = name;
};

/** Returns the module with the function `name` wrapped: it has the bug that is planted. */
export const withBugs = (module: Shape, name: string): Shape => {
  const original = module[name] as Wrapped;
  const changed = new Map(
    bugs.filter((bug) => bug.of === name).map((bug) => [bug.name, bug.change(original)] as const),
  );
  const wrapped: Wrapped = (...args) => (changed.get(planted ?? '') ?? original)(...args);
  return { ...module, [name]: wrapped };
};
