import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import type { ControlPlane } from '../envtest/control-plane.ts';
import {
  type Kubelets,
  createDependents,
  createProtectedShoot,
  getDeployment,
  seedRules,
  shootRules,
} from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type Mill, createMill, millPath, millRules, startMillController } from './support/mill.ts';
import { type ProberBehindProxy, proberBehindProxy } from './support/prober-behind-proxy.ts';
import {
  type Dependent,
  type ProberWorld,
  kcm,
  mcm,
  nodes,
  prefix,
  quickConfig,
  startProberWorld,
} from './support/prober-world.ts';
import type { ProxiedWrite, WriteFault } from './support/write-proxy.ts';

const dependents: readonly Dependent[] = [kcm, mcm, 'mill'];

/** The parts of a dependent resource that a watchdog changes. */
interface DependentState {
  readonly count: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A protected shoot in a shared seed, with its own watchdog, which sees no other shoot, behind its own proxy. */
interface IsolatedShoot extends Omit<ProberBehindProxy, 'start'> {
  readonly name: string;
  /** Counts of the resources while the shoot is healthy. */
  readonly expected: Record<Dependent, number>;
  start(): Promise<void>;
  state(dependent: Dependent): Promise<DependentState>;
}

const stateOf = async ({ seed }: ProberWorld, namespace: string, dependent: Dependent): Promise<DependentState> => {
  const mill = dependent === 'mill' ? await seed.client.get<Mill>(millPath(namespace)) : undefined;
  const workload = mill ?? (await getDeployment(seed.client, namespace, dependent));
  const annotations = Object.entries(workload.metadata.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix))
    // The text of the annotation `held` differs in each write.
    .map(([key, value]) => [key, key === `${prefix}/held` ? 'noted' : value] as const);
  const count = 'wheel' in workload.spec ? workload.spec.wheel.count : workload.spec.replicas;
  return { count, annotations: Object.fromEntries(annotations) };
};

const createIsolatedShoot = async (world: ProberWorld, name: string): Promise<IsolatedShoot> => {
  const namespace = `shoot--test--${name}`;
  const { seed, shoot, directory } = world;
  const { text: kubeconfig } = await shoot.kubeconfigFor({ user: `prober-${name}`, rules: shootRules });
  const configFile = world.file(`${name}.yaml`, quickConfig(dependents, { probeInterval: '500ms' }));
  const prober = await proberBehindProxy({
    ...{ seed, configFile, directory },
    user: `dwd-${name}`,
    rules: [...seedRules, ...millRules],
    onlyClusters: { fieldSelector: `metadata.name=${namespace}` },
  });
  await createProtectedShoot(seed, { namespace, kubeconfig });
  await createDependents(seed.client, { namespace, nodes, counts: { [kcm]: 2, [mcm]: 3 } });
  await createMill(seed.client, namespace, 4);
  return {
    ...world.use(prober),
    name,
    expected: { [kcm]: 2, [mcm]: 3, mill: 4 },
    start: async () => {
      const { output } = prober.start();
      await world.until(`shoot ${name} probes`, () => output().includes('probing begins'));
    },
    state: (dependent) => stateOf(world, namespace, dependent),
  };
};

/** The writes of an undisturbed flow: name and subresource. */
const flows = {
  down: ['machine-controller-manager', 'kube-controller-manager', 'mill', 'mill/scale'],
  up: ['kube-controller-manager', 'machine-controller-manager', 'mill/scale', 'mill'],
} as const;
type FlowDirection = keyof typeof flows;

const targetOf = ({ path }: ProxiedWrite): string => path.replace(/^.*\/(deployments|watermills)\//, '');
const dependentOf = (write: ProxiedWrite): Dependent => targetOf(write).replace('/scale', '') as Dependent;
const objectOf = ({ path }: ProxiedWrite): string => path.replace(/\/scale$/, '');

interface WriteFaultCase {
  readonly seed: ControlPlane;
  readonly isolated: IsolatedShoot;
}

/** The fault of one write of a flow, by the name of the shoot that has it. */
const writeFaults: Readonly<Record<string, (trouble: WriteFaultCase) => WriteFault>> = {
  'killed-before': ({ isolated }) => ({
    before: async () => {
      await isolated.kill();
      return 'drop';
    },
  }),
  'killed-after': ({ isolated }) => ({
    after: async () => {
      await isolated.kill();
      return 'cut';
    },
  }),
  terminated: ({ isolated }) => ({
    before: () => {
      isolated.program().signal('SIGTERM');
      return Promise.resolve('forward');
    },
  }),
  'answer-lost': () => ({ after: () => Promise.resolve('cut') }),
  conflict: ({ seed }) => ({
    before: async (write) => {
      const annotations = { touched: String(Date.now()) };
      await seed.client.patch(objectOf(write), { metadata: { annotations } });
      return 'forward';
    },
  }),
  autoscaler: ({ seed, isolated }) => ({
    before: async (write) => {
      const dependent = dependentOf(write);
      isolated.expected[dependent] += 3;
      await seed.client.patch(`${objectOf(write)}/scale`, { spec: { replicas: isolated.expected[dependent] } });
      return 'forward';
    },
  }),
};
const endsProgram = (trouble: string): boolean => ['killed-before', 'killed-after', 'terminated'].includes(trouble);
const changesObject = (trouble: string): boolean => ['conflict', 'autoscaler'].includes(trouble);

/** Arms a shoot's proxy: the next write to `target` has the shoot's fault, once. If the fault ends the program, the program is started again. */
const injectOnce = (seed: ControlPlane, isolated: IsolatedShoot, target: string | undefined) => {
  const trouble = writeFaults[isolated.name]?.({ seed, isolated }) ?? {};
  let struck: ProxiedWrite | undefined;
  let recovery: Promise<unknown> = Promise.resolve();
  const restart = async (): Promise<void> => {
    const exit = await isolated.program().ended;
    await isolated.start();
    if (isolated.name === 'terminated' && exit !== 0) {
      throw new Error(`${isolated.name}: exit code ${String(exit)} after SIGTERM`);
    }
  };
  const meets = (write: ProxiedWrite): boolean => struck === undefined && targetOf(write) === target;
  isolated.proxy.setFault({
    before: async (write) => {
      if (trouble.before === undefined || !meets(write)) return 'forward';
      struck = write;
      const fate = await trouble.before(write);
      if (fate === 'drop') recovery = restart();
      return fate;
    },
    after: async (write) => {
      // A fault after a write needs a write that succeeded.
      if (trouble.after !== undefined && meets(write) && write.status === 200) struck = write;
      if (struck !== write) return 'answer';
      const fate = await trouble.after?.(write);
      if (endsProgram(isolated.name)) recovery = restart();
      return fate ?? 'answer';
    },
  });
  return {
    hasStruck: () => target === undefined || struck !== undefined,
    struck: () => struck,
    recovered: () => recovery,
  };
};

/** Kills a shoot's program right after the next write to `target` has succeeded. */
const killAfter = (isolated: IsolatedShoot, target: string) => {
  let isDead = false;
  isolated.proxy.setFault({
    after: async (write) => {
      if (targetOf(write) !== target || write.status !== 200) return 'answer';
      isolated.proxy.setFault(undefined);
      await isolated.kill();
      isDead = true;
      return 'cut';
    },
  });
  return { isDead: () => isDead };
};

/** Returns the writes that must succeed, in order. A count that the autoscaler has raised from 0 needs no restoration. */
const neededWrites = (isolated: IsolatedShoot, flow: FlowDirection, target: string | undefined): readonly string[] =>
  flows[flow].filter(
    (write) => !(isolated.name === 'autoscaler' && flow === 'up' && write === 'mill/scale' && write === target),
  );

/** Expiry age of a lease: 0.75 of the grace period would be 6 s, but it is at least 1.25 renewal intervals of 10 s. */
const limitMs = 12_500;

const throwAll = (ends: readonly PromiseSettledResult<unknown>[]): void => {
  const failures = ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []));
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
};

describeEnvtest('kill matrix', () => {
  let world: ProberWorld;
  let kubelets: Kubelets;
  let shoots: readonly IsolatedShoot[] = [];

  beforeAll(async () => {
    world = await startProberWorld('kill');
    kubelets = world.startKubelets(undefined, { everyMs: 500 });
    shoots = await Promise.all(Object.keys(writeFaults).map((name) => createIsolatedShoot(world, name)));
    for (const start of [startDeploymentController, startMillController]) world.use(start(world.seed.client));
    await Promise.all(shoots.map((isolated) => isolated.start()));
  });
  afterAll(() => world.stop());

  const wanted = (isolated: IsolatedShoot, dependent: Dependent, flow: FlowDirection): DependentState => {
    const count = isolated.expected[dependent];
    if (flow === 'up') return { count, annotations: {} };
    const marks = { [`${prefix}/replicas`]: String(count), [`${prefix}/meltdown-protection-active`]: '' };
    const annotations = { ...marks, [`${prefix}/held`]: 'noted' };
    return { count: 0, annotations };
  };

  const sorted = ({ count, annotations }: DependentState): string =>
    JSON.stringify([count, Object.entries(annotations).sort()]);

  const untilFlowEnded = async (
    isolated: IsolatedShoot,
    flow: FlowDirection,
    hasStruck: () => boolean,
  ): Promise<void> => {
    const seen: Partial<Record<Dependent, DependentState>> = {};
    const detail = (): string => {
      const { expected, proxy } = isolated;
      const details = JSON.stringify({ struck: hasStruck(), seen, expected, writes: proxy.writes.slice(-8) });
      return `${details}\n${isolated.program().output()}`;
    };
    const what = `${isolated.name}: end of the flow ${flow}`;
    await waitFor({ what, everyMs: 300, detail }, async () => {
      for (const dependent of dependents) {
        const state = await isolated.state(dependent);
        seen[dependent] = state;
        if (sorted(state) !== sorted(wanted(isolated, dependent, flow))) return undefined;
      }
      return hasStruck();
    });
  };

  /** Expects that a flow has ended: no write succeeds during two more runs. */
  const untilQuiet = async (isolated: IsolatedShoot): Promise<void> => {
    const runs = (): number =>
      world.shoot.requests().filter(({ user, uri }) => user === `prober-${isolated.name}` && uri === '/version').length;
    const before = runs();
    const { length } = isolated.proxy.writes;
    await waitFor({ what: `probe runs of ${isolated.name}`, everyMs: 500 }, () => runs() >= before + 3);
    const landed = isolated.proxy.writes.slice(length).filter(({ status }) => status === 200);
    expect(landed, `${isolated.name}: writes after the flow's end`).toEqual([]);
  };

  const runFlow = async (isolated: IsolatedShoot, flow: FlowDirection, target: string | undefined): Promise<void> => {
    const { length } = isolated.proxy.writes;
    const armed = injectOnce(world.seed, isolated, target);
    await untilFlowEnded(isolated, flow, armed.hasStruck);
    await armed.recovered();
    await untilQuiet(isolated);
    const writes = isolated.proxy.writes.slice(length);
    const landed = writes.filter(({ status }) => status === 200).map(targetOf);
    const needed = neededWrites(isolated, flow, target);
    if (target === undefined || !changesObject(isolated.name)) {
      expect(landed, `${isolated.name}: writes that landed`).toEqual(needed);
    } else {
      expect([...new Set(landed)], `${isolated.name}: order of the writes`).toEqual(needed);
      expect(armed.struck()?.status, `${isolated.name}: precondition of ${target}`).toBe(409);
    }
  };

  const turn = (flow: FlowDirection): void => {
    if (flow === 'down') kubelets.cut();
    else kubelets.connect();
  };

  /** Runs a flow in all shoots at once. With a target, that write has each shoot's fault. */
  const runFlows = async (flow: FlowDirection, target?: string): Promise<void> => {
    const ends = shoots.map((isolated) => runFlow(isolated, flow, target));
    turn(flow);
    throwAll(await Promise.allSettled(ends));
  };

  it('restores the former counts in undisturbed flows', async () => {
    await runFlows('down');
    await runFlows('up');
  });

  for (const [index, down] of flows.down.entries()) {
    const up = flows.up[index] ?? '';
    it(`ends as without faults if write ${String(index + 1)} is disturbed: ${down} down, ${up} up`, async () => {
      await runFlows('down', down);
      await runFlows('up', up);
    });
  }

  const startAndEnd = async (isolated: IsolatedShoot, flow: FlowDirection): Promise<void> => {
    await isolated.start();
    await untilFlowEnded(isolated, flow, () => true);
    await untilQuiet(isolated);
  };

  /** Kills each shoot's program right after a different write of the flow, and starts it again after the kubelets have changed to the opposite state. */
  const killAndTurn = async (flow: FlowDirection): Promise<void> => {
    const back = flow === 'down' ? 'up' : 'down';
    const killed = shoots.map(async (isolated, index) => {
      const target = flows[flow][index % flows[flow].length] ?? '';
      const killing = killAfter(isolated, target);
      await waitFor({ what: `${isolated.name} ${flow}: ${target}` }, () => killing.isDead());
    });
    turn(flow);
    await Promise.all(killed);
    turn(back);
    // A program that starts before the leases have expired would first continue the scale-up.
    if (back === 'down') await sleep(limitMs + 1_000);
    const ends = shoots.map((isolated) => startAndEnd(isolated, back));
    throwAll(await Promise.allSettled(ends));
  };

  it('restores the resources of a scale-down that was killed before the kubelets renewed again', async () => {
    await killAndTurn('down');
  });

  it('scales down again the resources of a scale-up that was killed before the kubelets were cut off again', async () => {
    await runFlows('down');
    await killAndTurn('up');
    await runFlows('up');
  });

  it('never restored machine-controller-manager before kube-controller-manager was ready', () => {
    for (const { name } of shoots) {
      let kcmReady = true;
      for (const { user, uri, verb, status, body } of world.seed.requests()) {
        if (verb !== 'patch' || status !== 200 || !uri.includes(`/shoot--test--${name}/deployments/`)) continue;
        const patch = body as { status?: { readyReplicas?: number | null }; spec?: { replicas?: number } };
        if (uri.endsWith('/kube-controller-manager/status')) kcmReady = (patch.status?.readyReplicas ?? 0) > 0;
        const isRestored = uri.includes('/machine-controller-manager') && (patch.spec?.replicas ?? 0) > 0;
        if (user === `dwd-${name}` && isRestored) expect(kcmReady, name).toBe(true);
      }
    }
  });

  it('never stored a number of replicas that would not restore a resource', () => {
    const stored = world.seed.requests().flatMap(({ user, body }) => {
      if (!user.startsWith('dwd-')) return [];
      const patch = body as { metadata?: { annotations?: Record<string, string | null> } } | undefined;
      return [patch?.metadata?.annotations?.[`${prefix}/replicas`]].filter((value) => typeof value === 'string');
    });
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.filter((value) => !/^[1-9]\d*$/.test(value))).toEqual([]);
  });
});
