import { describe, expect, it } from 'vitest';
import { meltdownProtectionAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { simKinds } from '../apiserver/kinds.ts';
import type { Scenario } from '../harness/scenario.ts';
import { aboutLines } from './about.ts';
import { type CareOutput, linesOfCare } from './care.ts';
import { type ScriptRunOptions, runWholeScript, seen, linesAbout, missingFrom } from './testing/fixture.ts';

/** Short names of the findings, in their order. */
const findings = [
  'down in time',
  'no node lost',
  'no machine replaced',
  'landed',
  'restored',
  'charlie untouched',
  'crash loop',
  'weeded',
  'before twin',
  'not scaled',
] as const;

const deletePods = (shoot: string, atMs: number) => ({
  interfere: ({ clock, world }: Scenario) =>
    void clock.timer(atMs, () => {
      const { namespace } = world.shoot(shoot);
      for (const { metadata } of world.store.list(simKinds.Pod, namespace)) world.store.delete(simKinds.Pod, metadata);
    }),
});

/** Sets the prober's annotation on a Deployment of bravo for a second, as another writer. */
const markScaled = ({ clock, world }: Scenario): void => {
  const ref = { namespace: world.shoot('bravo').namespace, name: 'cluster-autoscaler' };
  const mark = (annotations: Readonly<Record<string, string>>) => () =>
    world.store.patch(simKinds.Deployment, ref, (old) => ({ ...old, metadata: { ...old.metadata, annotations } }));
  clock.timer(15_000, mark({ [meltdownProtectionAnnotation]: '' }));
  clock.timer(16_000, mark({}));
};

describe('the scripted demo', () => {
  it('shows the work of both watchdogs within a minute, and prints about each shoot only its own changes', async () => {
    const show = await runWholeScript();
    expect(seen(show)).toEqual(findings.map(() => true));
    expect(show.lastedMs).toBeLessThan(60_000);
    expect(
      missingFrom(show.lines, [
        'the prober has probed all shoots',
        'the weeder watches their services',
        'alpha    the network between its kubelets and its API server is cut',
        'bravo    its etcd fails, and that of twin as well',
        'alpha    confirming: 5/5 silent for 10s',
        'alpha    machine-controller-manager  1 -> 0',
        'alpha      annotated replicas=1, meltdown-protection-active',
        'alpha    cluster-autoscaler          1 -> 0',
        'alpha    kube-controller-manager     2 -> 0',
        'alpha      annotated replicas=2, meltdown-protection-active',
        'alpha    held: 5/5 silent for 12s',
        'care checks',
        'bravo    etcd is repaired',
        'the network is repaired',
        'alpha    landing: ',
        'alpha    all leases are renewed',
        'alpha    kube-controller-manager     ready again',
        'machine-controller-manager  0 -> 1',
        'alpha    machine-controller-manager  ready again',
        'cluster-autoscaler          0 -> 1',
        'alpha    cluster-autoscaler          ready again',
        'the end',
      ]),
    ).toEqual([]);
    expect(
      missingFrom(linesAbout(show.lines, 'bravo'), [
        'kube-apiserver is down',
        'crash loop: kube-apiserver waits 1s (2 restarts)',
        'blind: connection refused',
        'crash loop: kube-apiserver waits 8s (5 restarts)',
        'crash loop: kube-apiserver waits 15s (6 restarts)',
        'the weeder deleted kube-apiserver-',
        'the weeder deleted kube-controller-manager-',
        'cluster-autoscaler          ready again',
      ]),
    ).toEqual([]);
    expect(missingFrom(linesAbout(show.lines, 'bravo'), ['blind: ', 'etcd is repaired', 'healthy: '])).toEqual([]);
    expect(
      missingFrom(linesAbout(show.lines, 'twin'), [
        'no weeder deletes its pods',
        'kube-apiserver              ready again',
      ]),
    ).toEqual([]);
    const heldIn = show.lines.flatMap((text) => /alpha +(\S+) +[12] -> 0$/.exec(text)?.[1] ?? []);
    expect(heldIn).toEqual(['machine-controller-manager', 'cluster-autoscaler', 'kube-controller-manager']);
    expect(show.findings[8]?.text).toMatch(/twin in 1\d\.\ds \(really [45]m(\d+s)?\)$/);
    expect(linesAbout(show.lines, 'alpha').join('\n')).not.toMatch(/etcd|weeder|crash|Unknown/);
    expect(linesAbout(show.lines, 'bravo').join('\n')).not.toMatch(/annotated|network|Unknown/);
    expect(linesAbout(show.lines, 'twin').join('\n')).not.toMatch(/the weeder/);
    expect(linesAbout(show.lines, 'charlie')).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'loses no node at any phase of the renewals (seed %i), and prints at most 80 columns',
    async (seed) => {
      const show = await runWholeScript({ seed });
      // The phases decide if the scale-down also beat KCM's earliest possible reaction; no node is lost in any case.
      expect(seen(show).slice(1)).toEqual(findings.slice(1).map(() => true));
      expect(show.lines.filter((line) => line.length > 80)).toEqual([]);
      expect(show.lines.every((line) => /^ {0,4}\d{1,3}\.\ds {2}/.test(line))).toBe(true);
    },
  );

  it('shows the same in a seed without Gardener, without care', async () => {
    const show = await runWholeScript({ source: 'secret' });
    expect(seen(show)).toEqual(findings.map(() => true));
    expect(show.lines.join('\n')).not.toMatch(/care/);
    const alone = await runWholeScript({ source: 'secret', withProber: false, withWeeder: false });
    expect(
      missingFrom(alone.lines, ['KCM has given up', 'MCM deleted healthy machine shoot--sim--alpha-worker-']),
    ).toEqual([]);
  });

  it('shows the damage if no watchdog runs', async () => {
    const show = await runWholeScript({ withProber: false, withWeeder: false });
    expect(findings.filter((_, index) => show.findings[index]?.seen)).toEqual([
      'charlie untouched',
      'crash loop',
      'not scaled',
    ]);
    expect(show.lastedMs).toBeLessThan(60_000);
    expect(
      missingFrom(show.lines, [
        'no prober runs',
        'no weeder runs',
        '3 of 5 leases expired',
        'KCM has given up',
        ': 0 of 5 Ready',
        'MCM deleted healthy machine shoot--sim--alpha-worker-',
        'the network is repaired',
        'the end',
      ]),
    ).toEqual([]);
    expect(show.lines.join('\n')).not.toContain('the weeder deleted');
  });

  it.each<[what: string, options: ScriptRunOptions, missing: readonly (typeof findings)[number][]]>([
    ['only the weeder is missing', { withWeeder: false }, ['weeded', 'before twin']],
    [
      'no watchdog may write',
      { interfere: (scenario) => (scenario.mayWrite = false) },
      ['down in time', 'no node lost', 'no machine replaced', 'landed', 'restored', 'weeded', 'before twin'],
    ],
    [
      'the prober is too late',
      {
        interfere: (scenario) => {
          scenario.mayWrite = false;
          scenario.clock.timer(19_300, () => (scenario.mayWrite = true));
        },
      },
      ['down in time'],
    ],
    [
      'the prober restores nothing',
      {
        interfere: ({ clock, seedConnection }) =>
          clock.timer(23_000, () =>
            seedConnection.setFaults(({ method }) => (method === 'PATCH' ? { status: 403 } : undefined)),
          ),
      },
      ['restored'],
    ],
    [
      'another shoot has an outage',
      { interfere: ({ clock, world }) => clock.timer(15_000, () => world.shoot('charlie').cutKubelets()) },
      ['charlie untouched'],
    ],
    [
      'another client deletes the pods',
      { withWeeder: false, ...deletePods('bravo', 27_000) },
      ['weeded', 'before twin'],
    ],
    ['a pod is deleted without an Event of the weeder', deletePods('bravo', 20_000), ['weeded']],
    ["another client deletes the twin's pods", deletePods('twin', 27_000), ['before twin']],
    ['a shoot that has only lost etcd is scaled', { interfere: markScaled }, ['not scaled']],
  ])('does not pass when %s', async (_, options, missing) => {
    const show = await runWholeScript(options);
    expect(findings.filter((__, index) => show.findings[index]?.seen === false)).toEqual(missing);
    expect(show.lastedMs).toBeLessThan(80_000);
  });

  it('ends, and reports that the twin is still waiting, if its etcd does not recover', async () => {
    const show = await runWholeScript({
      interfere: ({ clock, world }) => clock.timer(26_000, () => world.shoot('twin').breakEtcd()),
    });
    expect(seen(show)).toEqual(findings.map(() => true));
    expect(show.findings[8]?.text).toContain('twin is still waiting');
    expect(show.lastedMs).toBeLessThan(80_000);
  });
});

type Verdict = CareOutput['shoots'][number];

const verdict = (shoot: string, ...troubles: readonly Verdict['conditions'][number][]): Verdict => ({
  namespace: `shoot--sim--${shoot}`,
  conditions: [
    { type: 'APIServerAvailable', status: 'True', reason: 'HealthzRequestSucceeded' },
    { type: 'EveryNodeReady', status: 'True', reason: 'EveryNodeReady' },
    ...troubles,
  ],
});

const held = { type: 'ControlPlaneHealthy', status: 'False', reason: 'ControllersScaledDown' };

describe("care's part of the demo", () => {
  const answer = { shoots: [verdict('alpha', held), verdict('bravo'), verdict('charlie', held)] };
  const after =
    (ms: number, runCare: () => CareOutput): NonNullable<ScriptRunOptions['runCare']> =>
    async ({ clock }) => {
      await clock.sleep(ms, new AbortController().signal);
      return runCare();
    };

  it('runs when KCM would give up the nodes, and before the network is repaired', async () => {
    const show = await runWholeScript({ runCare: after(9_000, () => answer) });
    expect(
      missingFrom(show.lines, [
        'kube-controller-manager     2 -> 0',
        'care checks all shoots',
        'the findings of care',
        'alpha    ControlPlaneHealthy      False    ControllersScaledDown',
        'bravo    all 2 conditions are True',
        'charlie  as alpha',
        'the network is repaired',
      ]),
    ).toEqual([]);
    expect(show.lines.filter((line) => line.includes('care checks'))).toHaveLength(1);
    expect(seen(show)).toEqual(findings.map(() => true));
  });

  it('is skipped, with the reason, if care fails', async () => {
    const fail = (): never => {
      throw new Error('dwd care ended with 2');
    };
    const show = await runWholeScript({ runCare: after(100, fail) });
    expect(missingFrom(show.lines, ['care failed: dwd care ended with 2', 'the network is repaired'])).toEqual([]);
    expect(seen(show)).toEqual(findings.map(() => true));
  });

  it('does not block the demo forever', async () => {
    const { lines, lastedMs } = await runWholeScript({ runCare: () => new Promise(() => undefined) });
    expect(missingFrom(lines, ['care checks', 'the network is repaired', 'the end'])).toEqual([]);
    expect(lastedMs).toBeLessThan(80_000);
  });

  it('shows the namespace of a shoot without a known name, and does not truncate a long type', () => {
    const outdated = {
      type: 'ObservabilityComponentsHealthy',
      status: 'Unknown',
      reason: 'OperatingSystemConfigOutdatedHealthCheckReport',
    };
    const names = [{ name: 'alpha', namespace: 'shoot--sim--alpha' }];
    const lines = linesOfCare({ shoots: [verdict('alpha', outdated), verdict('other')] }, names);
    expect(lines.map(({ about, text }) => [about, text])).toEqual([
      ['alpha', 'ObservabilityComponentsHealthy  Unknown  OperatingSystemConfigOutdatedHealthCheckReport'],
      ['shoot--sim--other', 'all 2 conditions are True'],
    ]);
  });
});

describe('the help page of the demo', () => {
  it('shows in at most 80 columns how the times were shortened, and where the files are', () => {
    const lines = aboutLines({
      pace: 'script',
      seedKubeconfig: '/tmp/d/seed.kubeconfig',
      shootKubeconfigs: ['/tmp/d/alpha.kubeconfig'],
      careConfig: '/tmp/d/care.yaml',
      cluster: 'shoot--sim--charlie',
    });
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (const copy of [
      'export KUBECONFIG=/tmp/d/seed.kubeconfig',
      '/tmp/d/alpha.kubeconfig',
      'bin/dwd care --once --config-file=/tmp/d/care.yaml',
    ]) {
      expect(lines).toContain(`  ${copy}`);
    }
    // The demo deletes its files at its end, so that a path of a log would lead nowhere then.
    expect(lines.join(' ')).toContain('logs are beside them until the demo ends');
    expect(lines.join(' ')).not.toContain('.log');
    for (const part of [
      'leases every 5s',
      'after 15s',
      'after 20s',
      '20 times as fast',
      'The shoot twin is not protected',
    ]) {
      expect(lines.join(' ')).toContain(part);
    }
  });
});
