import { afterEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createServerConnections } from '../../simulator/harness/server-connections.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { createSeededRandom, createVirtualClock } from '../../simulator/time/index.ts';
import {
  type World,
  createWorld,
  editEmbedded,
  kubeControllerManager,
  machineControllerManager,
} from '../../simulator/world/index.ts';
import { formatHeldAnnotation, heldAnnotation } from '../../src/annotations/held.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { type ProberSettings, releaseHeld } from '../../src/prober/index.ts';
import { createMeter } from '../../src/telemetry/index.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';

const timeoutMs = 60_000;
const isPatch = ({ method }: KubeRequest): boolean => method === 'PATCH';
const heldMarks = { [meltdownProtectionAnnotation]: '', [replicasAnnotation]: '1' };

interface Annotated {
  readonly shoot: string;
  readonly replicas: number;
  readonly annotations: Readonly<Record<string, string>>;
}

let world: World;
afterEach(() => world.stop());

/** A seed in whose shoots kube-controller-manager is held, while no prober runs. */
const create = (count: number, given: Partial<ProberSettings> = {}) => {
  const clock = createVirtualClock();
  const shoots = Array.from({ length: count }, (_, index) => ({ name: `s${String(index)}`, nodes: 1 }));
  world = createWorld({ clock, shoots });
  const lines = createServerConnections({ world, clock });
  const { seedTransport: seed } = lines.transportsOf({ clock, connect: (kube) => kube });
  const annotateWith = (name: string, { shoot, replicas, annotations }: Annotated) =>
    world.store.patch(simKinds.Deployment, { namespace: world.shoot(shoot).namespace, name }, (old) => ({
      ...old,
      metadata: { ...old.metadata, annotations },
      spec: { ...(old.spec as object), replicas },
    }));
  for (const { name: shoot } of shoots) {
    annotateWith(kubeControllerManager, { shoot, replicas: 0, annotations: heldMarks });
  }
  const release = (dryRun = false) =>
    clock.run(
      releaseHeld({
        ...{ clock, seed, env: {}, random: createSeededRandom(0), reason: 'test', userAgent: 'test' },
        ...{ logger: createRecordingLogger(), meter: createMeter({ processMetrics: false }) },
        dryRun,
        clusters: new Set(world.shoots.map(({ namespace }) => namespace)),
        settings: { ...gardenSettings, ...given },
        signal: new AbortController().signal,
        deadline: clock.monotonic() + timeoutMs,
        progress: () => undefined,
      }),
    );
  return { clock, annotateWith, release, seedConnection: lines.seed };
};

describe('a release', () => {
  it('of many shoots that is refused sends requests for at most 50 at the same time, for each every 3 s, and for all in turn', async () => {
    const count = 120;
    const { clock, release, seedConnection } = create(count);
    const patches: { readonly at: number; readonly path: string }[] = [];
    seedConnection.setFaults((request) => {
      if (!isPatch(request)) return undefined;
      patches.push({ at: clock.monotonic(), path: request.path });
      return { status: 403, message: 'no right to patch' };
    });
    const { restored, left } = await release();
    expect([restored, left.length]).toEqual([[], count]);
    expect(left[0]).toMatch(/^Deployment \S+ is at 0 replicas, was 1: .*no right to patch/);
    const sizes = [...Map.groupBy(patches, ({ at }) => at).values()].map(({ length }) => length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
    const byShoot = Map.groupBy(patches, ({ path }) => path);
    expect(byShoot.size).toBe(count);
    for (const times of byShoot.values()) {
      expect(times.length).toBeGreaterThan(10);
      const gaps = times.slice(1).map(({ at }, index) => at - (times[index]?.at ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(3_000);
    }
  });

  it('restores all of many shoots, at most 50 at the same time', async () => {
    const count = 60;
    const { release } = create(count);
    const up = new Set<string>();
    let most = 0;
    world.store.subscribe(simKinds.Deployment, ({ object }) => {
      const { metadata, spec, status } = object as typeof object & {
        readonly spec: { readonly replicas: number };
        readonly status?: { readonly readyReplicas?: number };
      };
      const key = `${metadata.namespace ?? ''}/${metadata.name}`;
      if (spec.replicas > 0 && (status?.readyReplicas ?? 0) === 0) up.add(key);
      else up.delete(key);
      most = Math.max(most, up.size);
    });
    const { restored, left } = await release();
    expect([restored.length, left]).toEqual([count, []]);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(50);
  });

  it('does not report a resource in another namespace as restored that is still held', async () => {
    const [kcm] = gardenSettings.dependentResources;
    const ref = { ...kcm!.ref, namespace: 'central', name: '{{ cluster }}-kcm' };
    const { release, seedConnection } = create(1, { dependentResources: [{ ...kcm!, ref }] });
    const { namespace } = world.shoot('s0');
    const name = `${namespace}-kcm`;
    const own = world.store.get(simKinds.Deployment, { namespace, name: kubeControllerManager });
    const held = JSON.stringify({ reason: 'r', by: 'b', cluster: namespace });
    world.store.put(simKinds.Deployment, {
      metadata: { namespace: 'central', name, annotations: { ...heldMarks, [heldAnnotation]: held } },
      spec: { ...(own?.spec as object), replicas: 0 },
    });
    seedConnection.setFaults((request) => (isPatch(request) ? { status: 403, message: 'no right' } : undefined));
    const { restored, left } = await release();
    expect(restored).toEqual([]);
    expect(left).toMatchObject([expect.stringContaining(`Deployment central/${name} is at 0 replicas`)]);
  });

  it('leaves the count of a hibernated shoot to its owner, and says so, also in a dry run, which writes nothing', async () => {
    const { release, seedConnection } = create(1);
    const { namespace } = world.shoot('s0');
    editEmbedded<{ readonly spec: object }>(world.store, namespace, (shoot) => ({
      ...shoot,
      spec: { ...shoot.spec, hibernation: { enabled: true } },
    }));
    const result = {
      restored: [],
      givenBack: [`Deployment ${namespace}/${kubeControllerManager}: hibernation is enabled`],
      left: [],
    };
    const patches: KubeRequest[] = [];
    seedConnection.setFaults((request) => {
      if (isPatch(request)) patches.push(request);
      return undefined;
    });
    expect([await release(true), patches]).toEqual([result, []]);
    expect(await release()).toEqual(result);
    expect(patches).not.toEqual([]);
  });

  it('restores also what is held of a shoot whose Cluster cannot be decoded, which no prober does', async () => {
    const { release } = create(1);
    editEmbedded<object>(world.store, world.shoot('s0').namespace, (shoot) => ({
      ...shoot,
      status: { lastOperation: 'no' },
    }));
    const restored = { restored: [expect.stringContaining(kubeControllerManager)], givenBack: [], left: [] };
    expect(await release(true)).toEqual(restored);
    expect(await release()).toEqual(restored);
  });

  it('restores what only the note of another names, which is restored already', async () => {
    const [kcm, mcm] = gardenSettings.dependentResources;
    const { annotateWith, release } = create(1, { dependentResources: [kcm!] });
    const note = formatHeldAnnotation({ reason: 'r', by: 'b', with: [mcm!.ref] });
    annotateWith(kubeControllerManager, { shoot: 's0', replicas: 1, annotations: { [heldAnnotation]: note } });
    annotateWith(machineControllerManager, { shoot: 's0', replicas: 0, annotations: heldMarks });
    expect(await release()).toMatchObject({ restored: [expect.stringContaining(machineControllerManager)], left: [] });
    const { namespace } = world.shoot('s0');
    const kept = world.store.get(simKinds.Deployment, { namespace, name: kubeControllerManager });
    expect(kept?.metadata.annotations ?? {}).toEqual({});
  });

  it('ends when nothing is at 0, although an annotation that the Go program has left cannot be removed', async () => {
    const { clock, annotateWith, release, seedConnection } = create(1);
    annotateWith(machineControllerManager, { shoot: 's0', replicas: 1, annotations: { [heldAnnotation]: '{}' } });
    seedConnection.setFaults((request) =>
      isPatch(request) && request.path.endsWith(machineControllerManager) ? { status: 403 } : undefined,
    );
    const begin = clock.monotonic();
    expect(await release()).toMatchObject({ restored: [expect.stringContaining(kubeControllerManager)], left: [] });
    expect(clock.monotonic() - begin).toBeLessThan(timeoutMs / 2);
  });
});
