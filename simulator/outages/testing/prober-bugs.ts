import type { ProbeSettings } from '../../../src/prober/judge/judgement.ts';
import type { Fault, Plan } from '../plan.ts';
import { type Bug, type PlantedChange, type Shape, shape } from './bug.ts';

/** Changes the settings of `probe`. */
const settings =
  (change: (settings: ProbeSettings) => Partial<ProbeSettings>): PlantedChange =>
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

/** Changes the decision of `probe`. */
const decision =
  (change: (decision: Shape, now: number) => Shape): PlantedChange =>
  (probe) =>
  async (deps = {}, request) => {
    const result = shape(await probe(deps, request));
    const clock = deps.clock as { monotonic(): number };
    return { ...result, decision: change(shape(result.decision), clock.monotonic()) };
  };

/** Replaces the verdict if `change` returns one. */
const verdict = (change: (verdict: Shape) => string | undefined): PlantedChange =>
  decision((made, now) => {
    const kind = change(shape(made.verdict));
    return kind === undefined ? made : { ...made, verdict: { kind, crossedAt: now } };
  });

/** Sets the time of the next probe, in milliseconds from now. */
const nextProbe = (ms: number): PlantedChange => decision((made, now) => ({ ...made, nextRunAt: now + ms }));

/** Changes the write of `planPatch`. */
const write =
  (change: (write: Shape) => Shape): PlantedChange =>
  (planPatch) =>
  (...args) => {
    const move = shape(planPatch(...args));
    return move.kind === 'write' ? { ...move, write: change(shape(move.write)) } : move;
  };

const upsideDown = (info: unknown): unknown =>
  info === undefined ? undefined : { ...shape(info), level: -Number(shape(info).level) };

const descending: PlantedChange =
  (createScaling) =>
  (desired, start = {}) => {
    const resources = (start.resources as readonly Shape[]).map((resource) => ({
      ...resource,
      scaleUp: upsideDown(resource.scaleUp),
      scaleDown: upsideDown(resource.scaleDown),
    }));
    return createScaling(desired, { ...start, resources });
  };

const impatient: PlantedChange =
  (advanceScaling) =>
  (scaling = {}, input = {}) => {
    const operations = (scaling.operations as readonly Shape[]).map((operation) =>
      shape(operation.phase).kind === 'settling'
        ? { ...operation, phase: { kind: 'done', outcome: 'scaled' } }
        : operation,
    );
    return advanceScaling(scaling.direction === 'up' ? { ...scaling, operations } : scaling, input);
  };

const presumptuous: PlantedChange =
  (planPatch) =>
  (resource = {}, state = {}, aim = {}) => {
    const marks = Object.entries(shape(state.annotations)).filter(([name]) => !name.endsWith('/ignore-scaling'));
    return planPatch(resource, { ...state, annotations: Object.fromEntries(marks) }, aim);
  };

const unconditional: PlantedChange =
  (act) =>
  (deps = {}, request = {}) => {
    const action = shape(request.action);
    if (action.kind !== 'write') return act(deps, request);
    const base = { ...shape(shape(action.write).base), resourceVersion: '' };
    return act(deps, { ...request, action: { ...action, write: { ...shape(action.write), base } } });
  };

const leaking: PlantedChange =
  (act) =>
  (deps = {}, request = {}) => {
    (deps.clock as { timer(ms: number, callback: () => void): void }).timer(1e9, () => undefined);
    return act(deps, request);
  };

/** Makes the created prober leave a timer behind when it is closed. */
const leakingAtEnd: PlantedChange =
  (createConfiguredProber) =>
  (settings, deps = {}) => {
    const prober = shape(createConfiguredProber(settings, deps));
    const close = prober.close as () => Promise<void>;
    return {
      ...prober,
      close: async () => {
        await close();
        (deps.clock as { timer(ms: number, callback: () => void): void }).timer(1e9, () => undefined);
      },
    };
  };

const inEarnest: PlantedChange =
  (act) =>
  (deps = {}, request = {}) =>
    act({ ...deps, dryRun: false }, request);

/** Selects plans of probers with at least `least` such faults. */
export const withFault =
  (least: number, isSuch: (fault: Fault) => boolean) =>
  ({ component, faults }: Plan): boolean =>
    component === 'prober' && faults.filter(({ fault }) => isSuch(fault)).length >= least;

const needless = ['no scale-down while kubelets renew'];
const inexact = ['exact counts'];
const disordered = ['levels in order'];

export const proberBugs: readonly Bug[] = [
  {
    name: 'half the threshold is enough',
    of: 'probe',
    change: settings(({ nodeLeaseFailureFraction }) => ({ nodeLeaseFailureFraction: nodeLeaseFailureFraction / 2 })),
    breaks: needless,
  },
  {
    name: 'a silence of three seconds is enough',
    of: 'probe',
    change: settings(() => ({ allSilentAfterMs: 3_000 })),
    breaks: needless,
  },
  {
    name: 'late kubelets are not waited for',
    of: 'probe',
    change: settings(() => ({ landingTimeoutMs: 0 })),
    breaks: ['lands before it restores'],
  },
  {
    name: 'outages are overlooked',
    of: 'probe',
    change: verdict(({ kind }) => (kind === 'unhealthy' ? 'skipped' : undefined)),
    breaks: ['protected in time', 'no node lost'],
  },
  {
    name: 'recoveries are overlooked',
    of: 'probe',
    change: verdict(({ kind }) => (kind === 'healthy' ? 'skipped' : undefined)),
    breaks: ['restored in the end'],
  },
  { name: 'probes have no pause in between', of: 'probe', change: nextProbe(10), breaks: ['no storm of requests'] },
  {
    name: 'the second observation is the last',
    of: 'probe',
    change: nextProbe(1e6),
    breaks: ['keeps probing', 'protected in time', 'restored in the end'],
  },
  { name: 'levels are taken in descending order', of: 'createScaling', change: descending, breaks: disordered },
  { name: 'a scale-up does not wait for pods', of: 'advanceScaling', change: impatient, breaks: disordered },
  {
    name: 'one replica is restored, whatever there was',
    of: 'planPatch',
    change: write((wanted) => (Number(wanted.replicas) > 0 ? { ...wanted, replicas: 1 } : wanted)),
    breaks: inexact,
  },
  {
    name: 'the former count is not stored',
    of: 'planPatch',
    change: write((wanted) =>
      wanted.replicas === 0
        ? { ...wanted, annotations: { 'dependency-watchdog.gardener.cloud/meltdown-protection-active': '' } }
        : wanted,
    ),
    breaks: inexact,
  },
  {
    name: 'a pause is not heeded',
    of: 'permission',
    change: (permission) => (desired, context) => permission(desired, { ...context, pausedUntil: undefined }),
    breaks: ['paused is not scaled down'],
    among: withFault(1, ({ kind }) => kind === 'protection-pause'),
  },
  { name: 'ignore-scaling is ignored', of: 'planPatch', change: presumptuous, breaks: inexact },
  {
    name: 'writes have no precondition',
    of: 'act',
    change: unconditional,
    breaks: inexact,
    among: (plan) => plan.latencyMs >= 300 && withFault(3, ({ kind }) => kind === 'autoscaler')(plan),
  },
  { name: 'a dry run writes', of: 'act', change: inEarnest, breaks: ['a dry run writes nothing'], knownPlan: 50 },
  { name: 'each request leaves a timer behind', of: 'act', change: leaking, breaks: ['nothing held at rest'] },
  {
    name: 'a prober that ends leaves a timer behind',
    of: 'createConfiguredProber',
    change: leakingAtEnd,
    breaks: ['nothing leaks'],
  },
];
