import { describe, expect, it } from 'vitest';
import { gardenSettings } from '../../../simulator/harness/settings.ts';
import { adviceOn, scaleDownTimeline } from './advice.ts';
import type { DependentResource, ProberSettings, ScaleInfo } from './settings.ts';

const [kcm, mcm, autoscaler] = gardenSettings.dependentResources as readonly [
  DependentResource,
  DependentResource,
  DependentResource,
];

const down = (resource: DependentResource, info: Partial<ScaleInfo>): DependentResource => ({
  ...resource,
  scaleDown: { level: 0, initialDelayMs: 0, timeoutMs: 30_000, ...info },
});
const upOnly = ({ ref, optional, scaleUp }: DependentResource): DependentResource => ({ ref, optional, scaleUp });

const adviceFor = (changed: Partial<ProberSettings>): readonly string[] =>
  adviceOn({ ...gardenSettings, ...changed }).map(({ text }) => text);

describe('the race against the grace period', () => {
  it("is won with Gardener's configuration, by a known margin", () => {
    expect(scaleDownTimeline(gardenSettings)).toEqual([
      { at: 30_000, text: 'threshold at 30.0s' },
      { at: 31_000, text: 'observation within 1.0s' },
      { at: 34_000, text: 'level 0: up to 3.0s' },
      { at: 34_000, text: 'level 1: kube-controller-manager at 34.0s' },
    ]);
    expect(adviceFor({})).toEqual([]);
  });

  it('does not exist if KCM is not scaled down', () => {
    expect(scaleDownTimeline({ ...gardenSettings, dependentResources: [mcm] })).toBeUndefined();
    expect(scaleDownTimeline({ ...gardenSettings, dependentResources: [upOnly(kcm), mcm] })).toBeUndefined();
  });

  it.each<readonly [string, readonly DependentResource[], number]>([
    ['a level takes as long as its slowest resource', [down(mcm, { initialDelayMs: 2_000 }), autoscaler, kcm], 36_000],
    ["a timeout below a level's limit takes its place", [down(mcm, { timeoutMs: 1_000 }), kcm], 32_000],
    ['levels add up', [mcm, down(autoscaler, { level: 1 }), down(kcm, { level: 2 })], 37_000],
    [
      'levels after KCM and with it do not count',
      [down(kcm, { level: 0 }), mcm, down(autoscaler, { level: 1 })],
      31_000,
    ],
    ["KCM's own delay counts", [down(kcm, { initialDelayMs: 4_000 })], 35_000],
    ['a numerical gap between levels costs nothing', [down(kcm, { level: 900 }), mcm], 34_000],
  ])('%s', (_, dependentResources, at) => {
    expect(scaleDownTimeline({ ...gardenSettings, dependentResources })?.at(-1)?.at).toBe(at);
  });
});

describe('advice', () => {
  it.each<readonly [string, Partial<ProberSettings>, readonly string[]]>([
    [
      'a delay that cannot win',
      { dependentResources: [kcm, down(mcm, { initialDelayMs: 20_000 })] },
      [
        'the scale-down comes too late: threshold at 30.0s, observation within 1.0s, level 0: 20.0s initialDelay + up to 3.0s, level 1: kube-controller-manager at 54.0s: KCM acts at 40.0s',
      ],
    ],
    [
      'a delay of exactly the remaining time',
      { dependentResources: [down(kcm, { level: 1, initialDelayMs: 10_000 }), mcm] },
      [expect.stringContaining('the scale-down comes too late: ')],
    ],
    [
      'delays that may win',
      { dependentResources: [kcm, down(mcm, { initialDelayMs: 7_000 })] },
      [
        'the scale-down may come too late if pods are slow to stop: threshold at 30.0s, observation within 1.0s, level 0: 7.0s initialDelay + up to 3.0s, level 1: kube-controller-manager at 41.0s: KCM acts at 40.0s',
      ],
    ],
    [
      'a short grace',
      { nodeMonitorGraceMs: 12_000, probeIntervalMs: 3_000 },
      [expect.stringContaining('may come too late')],
    ],
    [
      'delays of a level after KCM',
      { dependentResources: [kcm, mcm, down(autoscaler, { level: 2, initialDelayMs: 60_000 })] },
      [],
    ],
    [
      'rare probes, as gardenlet configures them',
      { probeIntervalMs: 30_000 },
      [
        'more than a quarter of the grace period: after a failed probe, the next one comes up to 36.0s later (probeInterval 30.0s x 1.2), and KCM acts at 40.0s',
      ],
    ],
    ['probes at a quarter of the grace, as they are by default', { probeIntervalMs: 10_000 }, []],
  ])('for %s', (_, changed, expected) => {
    expect(adviceFor(changed)).toEqual(expected);
  });
});
