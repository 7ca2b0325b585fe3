import { describe, expect, it } from 'vitest';
import type { DependentResource, ProberSettings } from '../../src/prober/config/settings.ts';
import { gardenSettings } from '../harness/settings.ts';
import { type RehearsalRequest, planRehearsal } from './plan.ts';
import { type Rehearsal, rehearse } from './result.ts';
import { formatRehearsal } from './text.ts';

const request = (given: Partial<RehearsalRequest>): RehearsalRequest => ({
  settings: gardenSettings,
  shoots: 4,
  nodes: 5,
  fault: 'lb',
  durationMs: 900_000,
  seed: 3,
  limits: { qps: 5, burst: 10 },
  ...given,
});

const run = (given: Partial<RehearsalRequest>): Promise<Rehearsal> => {
  const plan = planRehearsal(request(given));
  if (!plan.ok) throw new Error(plan.error);
  return rehearse(plan.value);
};

const withDependents = (dependentResources: readonly DependentResource[]): ProberSettings => ({
  ...gardenSettings,
  dependentResources,
});
const [kcm, mcm, autoscaler] = gardenSettings.dependentResources as readonly [
  DependentResource,
  DependentResource,
  DependentResource,
];
const slow: ProberSettings = withDependents([
  kcm,
  { ...mcm, scaleDown: { level: 0, initialDelayMs: 20_000, timeoutMs: 30_000 } },
]);

const none = { nodesLost: 0, machinesReplaced: 0 };

describe('a rehearsal', () => {
  it.each(['lb', 'seed-slow', 'restart'] as const)('of %s loses no node', async (fault) => {
    const result = await run({ fault });
    expect(result).toMatchObject({ isProtected: true, with: none, without: { nodesLost: 20 } });
    expect(result).toMatchObject({ threatened: 4, heldShoots: 4, needless: 0, unrestored: 0 });
    expect(result.margin!.leastMs).toBeGreaterThan(0);
    expect(result.margin!.medianMs).toBeGreaterThanOrEqual(result.margin!.leastMs);
  });

  it('of resources whose names contain that of their cluster loses no node', async () => {
    const settings = withDependents(
      [kcm, mcm].map((resource) => ({
        ...resource,
        ref: { ...resource.ref, name: `{{ cluster }}-${resource.ref.name.replace('kube-', '')}` },
      })),
    );
    const result = await run({ settings: { ...settings, clusterSource: { key: 'kubeconfig' } } });
    expect(result).toMatchObject({ isProtected: true, with: none, without: { nodesLost: 20 }, heldShoots: 4 });
    expect(result.unrestored).toBe(0);
  });

  it('of kubelets that reconnect late loses no node: the prober waits for them', async () => {
    const late = await run({ fault: 'late-kubelets' });
    expect(late).toMatchObject({ isProtected: true, with: none, heldShoots: 4, unrestored: 0 });
    // If KCM is restored at once, it gives up the late nodes.
    const hasty = await run({ fault: 'late-kubelets', settings: { ...gardenSettings, landingTimeoutMs: 0 } });
    expect(hasty.with.nodesLost).toBeGreaterThan(0);
  });

  it('of a flapping path loses no node', async () => {
    const flapping = await run({ fault: 'flapping', durationMs: 2_400_000 });
    expect(flapping).toMatchObject({ isProtected: true, with: none, heldShoots: 4, unrestored: 0 });
    // With a longer grace period no node is threatened, but all are silent for long enough.
    const patient = { ...gardenSettings, nodeMonitorGraceMs: 50_000 };
    const long = await run({ fault: 'flapping', durationMs: 2_400_000, settings: patient });
    expect(long).toMatchObject({ isProtected: true, with: none, without: none, needless: 0 });
  });

  it('of a slow seed shows that writes take longer', async () => {
    const [well, slowSeed] = [await run({}), await run({ fault: 'seed-slow' })];
    expect(slowSeed.margin!.leastMs).toBeLessThanOrEqual(well.margin!.leastMs - 500);
  });

  it('cuts off part of the nodes, or one shoot', async () => {
    const nat = await run({ fault: 'nat', nodes: 10 });
    expect(nat).toMatchObject({ isProtected: true, with: none, without: { nodesLost: 32 } });
    expect(await run({ fault: 'shoot-lb' })).toMatchObject({
      isProtected: true,
      with: none,
      without: { nodesLost: 5 },
      threatened: 1,
      heldShoots: 1,
    });
  });

  it.each(['api-server', 'none'] as const)('of %s scales nothing', async (fault) => {
    const result = await run({ fault });
    expect(result).toMatchObject({ isProtected: true, with: none, without: none, threatened: 0, needless: 0 });
    expect(result.margin).toBeUndefined();
  });

  it('of a configuration that cannot win loses nodes', async () => {
    const result = await run({ settings: slow });
    expect(result.isProtected).toBe(false);
    expect(result.with.nodesLost).toBeGreaterThan(0);
    expect(result.margin!.leastMs).toBeLessThan(0);
  });

  it('replaces machines if the outage is long enough and KCM is not scaled down', async () => {
    const result = await run({ settings: withDependents([autoscaler]), durationMs: 2_700_000, shoots: 1 });
    expect(result).toMatchObject({
      isProtected: false,
      with: { nodesLost: 5 },
      without: { nodesLost: 5 },
    });
    expect(result.without.machinesReplaced).toBeGreaterThan(0);
    expect(result.with.machinesReplaced).toBeGreaterThan(0);
  });

  it('shows what the configuration leaves unprotected: a part that is less than the fraction, and single nodes', async () => {
    const part = await run({ settings: { ...gardenSettings, nodeLeaseFailureFraction: 0.9 }, fault: 'nat' });
    expect(part).toMatchObject({ isProtected: false, heldShoots: 0, with: { nodesLost: 16 } });
    expect(await run({ nodes: 1 })).toMatchObject({ isProtected: false, heldShoots: 0, with: { nodesLost: 4 } });
  });

  const ref = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, name });

  it('supports dependent resources of every known scalable kind, and managers that are not Deployments', async () => {
    const result = await run({
      settings: withDependents([
        { ...kcm, ref: ref('apps/v1', 'StatefulSet', 'kube-controller-manager') },
        { ...mcm, ref: ref('machine.sapcloud.io/v1alpha1', 'MachineSet', 'machine-controller-manager') },
        { ...autoscaler, ref: ref('druid.gardener.cloud/v1alpha1', 'Etcd', 'etcd-events') },
      ]),
    });
    expect(result).toMatchObject({ isProtected: true, with: none, heldShoots: 4, unrestored: 0 });
    expect(result.takenForGranted).toEqual([]);
  });

  it('does not report protection that depends on an unknown kind', async () => {
    const unknown = ref('example.org/v1beta2', 'Manager', 'kube-controller-manager');
    const result = await run({ settings: withDependents([{ ...kcm, ref: unknown }, mcm]) });
    expect(result).toMatchObject({ isProtected: false, heldShoots: 0 });
    expect(result.takenForGranted).toEqual([
      'that the seed serves Manager of example.org/v1beta2 with a scale subresource: kube-controller-manager was not rehearsed, and is protected only if so',
    ]);
    const text = formatRehearsal(result);
    expect(text).toContain('\nTAKEN FOR GRANTED: that the seed serves Manager of example.org/v1beta2 with a');
    expect(text).toContain('\nFAILED: ');
    expect(text).not.toContain('\nPROTECTED');
  });

  it('protects shoots although one of their resources has an unknown kind', async () => {
    const mill = { ...autoscaler, ref: ref('example.org/v1', 'Watermill', 'mill') };
    const result = await run({ settings: withDependents([kcm, mcm, mill]) });
    expect(result).toMatchObject({ isProtected: true, with: none, heldShoots: 4, unrestored: 0 });
    expect(result.takenForGranted).toHaveLength(1);
  });

  it('uses the configured names of Secrets, including that of the external probe', async () => {
    const externalProbe = {
      kubeConfigSecretName: 'outside',
      timeoutMs: 2_000,
      failureThreshold: 3,
      successThreshold: 1,
      mode: 'trigger',
    } as const;
    const settings = { ...gardenSettings, kubeConfigSecretName: 'inside', externalProbe };
    expect(await run({ settings, fault: 'lb' })).toMatchObject({ isProtected: true, with: none, heldShoots: 4 });
    // The public address is reachable, which vetoes nothing.
    expect(await run({ settings, fault: 'nat' })).toMatchObject({ isProtected: true, with: none });
  });

  it('respects the rate limits: with one request in two seconds, the restoration takes longer', async () => {
    const fast = await run({ shoots: 8 });
    const limited = await run({ shoots: 8, limits: { qps: 0.5, burst: 1 } });
    expect(limited).toMatchObject({ isProtected: true, with: none });
    expect(limited.endedMs).toBeGreaterThan(fast.endedMs + 10_000);
  });
});

describe('a plan', () => {
  it('has an outage of a third of the time, after the shoots have settled', () => {
    expect(planRehearsal(request({}))).toMatchObject({ ok: true, value: { beginsAt: 60_000, endsAt: 360_000 } });
    const settings = { ...gardenSettings, probeIntervalMs: 60_000 };
    expect(planRehearsal(request({ settings }))).toMatchObject({ value: { beginsAt: 216_000, endsAt: 516_000 } });
  });

  it.each<readonly [string, Partial<RehearsalRequest>, string]>([
    ['a duration that the grace outlasts', { durationMs: 179_999 }, '--duration must be at least 3m'],
    [
      'a duration that settling takes up',
      { settings: { ...gardenSettings, probeIntervalMs: 100_000 } },
      '--duration must be at least 18m',
    ],
    ['more nodes than fit', { shoots: 501, nodes: 100 }, '--shoots times --nodes must be at most 50000'],
  ])('rejects %s', (_, given, message) => {
    expect(planRehearsal(request(given))).toMatchObject({
      ok: false,
      error: expect.stringContaining(message) as unknown,
    });
  });

  it('accepts values at the limits', () => {
    expect(planRehearsal(request({ durationMs: 180_000 })).ok).toBe(true);
    expect(planRehearsal(request({ shoots: 500, nodes: 100 })).ok).toBe(true);
  });
});
