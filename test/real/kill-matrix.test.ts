import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import type { Kubelets } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type DependentState, type IsolatedShoot, createIsolatedShoot, dependents } from './support/isolated-shoot.ts';
import { startMillController } from './support/mill.ts';
import { type Dependent, type ProberWorld, prefix, startProberWorld } from './support/prober-world.ts';
import {
  type FlowDirection,
  injectOnce,
  changesObject,
  flows,
  killAfter,
  neededWrites,
  targetOf,
  writeFaults,
} from './support/write-faults.ts';

/** Expiry age of a lease: 0.75 of the grace period. */
const limitMs = 6_000;

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
