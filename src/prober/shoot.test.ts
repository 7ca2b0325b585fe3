import { beforeEach, describe, expect, it } from 'vitest';
import { buildLease, buildMachine, buildNode, microTime } from '../../test/doubles/builders.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { type ScriptedCall, type ScriptedClient, createScriptedClient } from '../../test/doubles/scripted-client.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import type { DependentSource } from '../kubernetes/cache/watch-kind.ts';
import { emptyProbeMemory } from './judge/judgement.ts';
import { ProbeGate } from './observe/probe-gate.ts';
import { type Emit, type ProberEvent, observer } from './report/events.ts';
import { type ShootProberState, initialState } from './scale/advance-shoot.ts';
import { type DesiredScaling, type Role, leader } from './scale/desired.ts';
import { createScaling } from './scale/scaling.ts';
import { type ShootProberDeps, ShootProber, memoryOf } from './shoot.ts';
import { dependent, deployment, objectOf, scalableOf } from './testing/resources.ts';
import { createStaticStore } from './testing/static-store.ts';
import { gardenerSource } from './clusters/gardener.ts';

const resources = ['kcm', 'mcm', 'ca'].map((name) => dependent(deployment(name)));
const settings = { ...gardenSettings, initialDelayMs: 0, backoffJitterFactor: 0, dependentResources: resources };

let clock: VirtualClock;
let seed: ScriptedClient;
let bugs: { readonly cluster?: string | undefined; readonly error: unknown }[];
let emit: Emit;
beforeEach(() => {
  clock = createVirtualClock();
  seed = createScriptedClient(clock);
  bugs = [];
  emit = observer({ 'unexpected-error': (bug) => bugs.push(bug) });
});

/** The shoot of one prober. */
interface Shoot {
  /** The prober's calls to the shoot's API server: when a run began, and the signal that ends it. */
  readonly runs: { readonly at: number; readonly signal: AbortSignal }[];
  /** True if new runs get no response. */
  hangs: boolean;
  /** Called whenever the prober reads the state of a dependent resource. */
  onObservation: () => void;
  stop: () => void;
  hasEnded: boolean;
}

/** Responds for a shoot whose two nodes have not renewed their leases for a minute. */
const createAnswering = (shoot: Shoot): KubeClient => {
  const names = ['node-1', 'node-2'];
  const renewTime = microTime(clock.now() - 60_000);
  const answers: Readonly<Record<string, unknown>> = {
    version: {},
    leases: { items: names.map((name) => buildLease({ name, renewTime })) },
    nodes: { items: names.map((name) => buildNode({ name })) },
    machines: { items: names.map((name) => buildMachine({ name })) },
  };
  return {
    call: async ({ path, decode }, { signal }) => {
      const at = clock.monotonic();
      if (path === '/version') shoot.runs.push({ at, signal });
      if (path === '/version' && shoot.hangs) await clock.sleep(1e9, signal);
      return { value: decode(answers[path.slice(path.lastIndexOf('/') + 1)]), sentAt: at, receivedAt: at };
    },
  };
};

/** Starts a prober. Its first run requires a second observation 2 s later, and that one scales down. Writes wait for the response that the test gives. */
const start = (cluster: string, given: Partial<ShootProberDeps> = {}): Shoot => {
  const shoot: Shoot = {
    runs: [],
    hangs: false,
    onObservation: () => undefined,
    stop: () => undefined,
    hasEnded: false,
  };
  const answering = createAnswering(shoot);
  const sources = resources.map(({ ref }): readonly [string, DependentSource] => {
    const store = createStaticStore(() => scalableOf(objectOf(ref, { replicas: 2 })));
    const served = () => {
      shoot.onObservation();
      return { kind: 'served', resource: 'deployments' } as const;
    };
    return [refKey(ref), { served, store }];
  });
  const deps: ShootProberDeps = {
    clock,
    identity: 'test',
    random: { next: () => 0 },
    settings,
    emit,
    dryRun: false,
    isWatchInterrupted: () => false,
    seed: { call: (call, options) => (call.path.endsWith('/machines') ? answering : seed).call(call, options) },
    connector: { clientFor: () => ({ client: answering, close: () => undefined }) },
    source: gardenerSource({ kubeConfigSecretName: 'probe' }),
    kubeconfigs: createStaticStore(() => 'a kubeconfig'),
    dependents: new Map(sources),
    gate: new ProbeGate(clock),
    ...given,
  };
  const prober = new ShootProber(deps, cluster, {
    probe: emptyProbeMemory,
    nextRunAt: clock.monotonic(),
    settings: { poolConditions: new Map() },
    onEnded: () => {
      shoot.hasEnded = true;
    },
  });
  shoot.stop = () => prober.stop({ releasePolicy: 'restore', reason: 'test' });
  return shoot;
};

const writesOf = (namespace: string): readonly ScriptedCall[] =>
  seed.calls.filter(({ call }) => call.path.includes(`/namespaces/${namespace}/`));

const bugsOf = (): readonly unknown[] => bugs.map(({ cluster }) => cluster);

/** Throws while it observes the first event of this kind about `a`, in the stead of the other observers. */
const breakOn = (kind: ProberEvent['kind']): void => {
  const [others, breakA] = [emit, onceFor('a')];
  emit = (event) => {
    if (event.kind === kind && 'cluster' in event) breakA(event.cluster);
    others(event);
  };
};

/** Throws the first time it is called with that namespace. */
const onceFor = (namespace: string) => {
  let thrown = false;
  return (name?: string): void => {
    if (name !== namespace || thrown) return;
    thrown = true;
    throw new TypeError('a bug');
  };
};

describe('an exception in the step of a shoot', () => {
  it('is reported; the shoot continues at the next interval, and others are not affected', async () => {
    breakOn('scaling-started');
    const [a, b] = [start('a'), start('b')];
    await clock.advance(2_000);
    expect(bugs).toMatchObject([{ cluster: 'a', error: expect.any(TypeError) as unknown }]);
    expect([writesOf('a'), writesOf('b')].map(({ length }) => length)).toEqual([0, 3]);
    await clock.advance(9_999);
    expect(a.runs.map(({ at }) => at)).toEqual([0, 2_000]);
    await clock.advance(1);
    expect([a, b].map(({ runs }) => runs.map(({ at }) => at))).toEqual([
      [0, 2_000, 12_000],
      [0, 2_000, 12_000],
    ]);
    expect([writesOf('a'), writesOf('b')].map(({ length }) => length)).toEqual([3, 3]);
    expect(bugsOf()).toEqual(['a']);
  });

  it('does not lose the request to stop', async () => {
    const a = start('a');
    await clock.advance(3_000);
    const breakIt = onceFor('a');
    a.onObservation = () => breakIt('a');
    a.stop();
    await clock.advance(20_000);
    expect([bugsOf(), a.hasEnded]).toEqual([['a'], true]);
  });

  it('ends the run in progress', async () => {
    const a = start('a');
    await clock.advance(2_000);
    a.hangs = true;
    await clock.advance(10_000);
    const breakIt = onceFor('a');
    a.onObservation = () => breakIt('a');
    for (const write of seed.waiting) write.fail(new ApiError({ code: 'Forbidden', message: 'no' }));
    await clock.settle();
    expect(bugsOf()).toEqual(['a']);
    expect(a.runs.map(({ signal }) => signal.aborted)).toEqual([false, false, true]);
    a.hangs = false;
    await clock.advance(10_000);
    expect(a.runs.map(({ at }) => at)).toEqual([0, 2_000, 12_000, 22_000]);
    expect(writesOf('a')).toHaveLength(6);
  });

  it('stops further writes, and the response to a sent one is ignored', async () => {
    const a = start('a');
    await clock.advance(2_000);
    const [kcm, mcm, ca] = seed.waiting;
    kcm!.leave();
    const breakIt = onceFor('a');
    a.onObservation = () => breakIt('a');
    ca!.fail(new ApiError({ code: 'Forbidden', message: 'no' }));
    await clock.settle();
    expect(bugsOf()).toEqual(['a']);
    expect([kcm, mcm].map((write) => seed.waiting.includes(write!))).toEqual([true, false]);
    kcm!.fail(new ApiError({ code: 'Forbidden', message: 'no' }));
    await clock.settle();
    await clock.advance(10_000);
    expect(writesOf('a')).toHaveLength(6);
    expect(bugsOf()).toEqual(['a']);
  });
});

it('asks at the moment of sending if this process may still write, also before its next step', async () => {
  let role: Role = leader;
  let mayWrite = (): boolean => false;
  const seedFor = (asked: () => boolean): KubeClient => {
    mayWrite = asked;
    return seed;
  };
  start('a', { role: () => role, seedFor });
  await clock.advance(2_000);
  expect([writesOf('a').length, mayWrite()]).toEqual([3, true]);
  role = { leads: false, mayStandIn: false };
  expect(mayWrite()).toBe(false);
});

it('runs that wait do not delay scale-downs: a write does not wait for the gate', async () => {
  let admitted = 2;
  const gate = { enter: () => (admitted-- > 0 ? Promise.resolve() : new Promise<void>(() => undefined)) };
  const a = start('a', { gate });
  await clock.advance(60_000);
  expect(a.runs.map(({ at }) => at)).toEqual([0, 2_000]);
  const before = writesOf('a').length;
  for (const write of seed.waiting) write.fail(new ApiError({ code: 'ServerError', message: 'again', status: 500 }));
  await clock.advance(10_000);
  expect([before, writesOf('a').length > before]).toEqual([3, true]);
});

it('the memory for the next prober has the schedule, or an immediate run if something is to be scaled, but keeps a back-off', () => {
  const state = initialState({ probe: emptyProbeMemory, nextRunAt: 30_000 });
  const desired: DesiredScaling = { direction: 'down', scope: 'all', reason: '', since: 0, judgedAt: 0 };
  const up: DesiredScaling = { ...desired, direction: 'up' };
  const error = new ApiError({ code: 'TooManyRequests', message: '' });
  const throttled = { kind: 'failed', failure: 'throttled', error } as const;
  const scaling = createScaling(up, { now: 0, resources: [], inFlight: new Set(), mustRead: false });
  const rows: readonly (readonly [Partial<ShootProberState>, number])[] = [
    [{}, 30_000],
    [{ desired }, 1_000],
    [{ desired: up }, 30_000],
    [{ desired: up, scaling }, 1_000],
    [{ desired, verdict: throttled }, 30_000],
  ];
  for (const [given, at] of rows) expect(memoryOf({ ...state, ...given }, 1_000).nextRunAt).toBe(at);
});
