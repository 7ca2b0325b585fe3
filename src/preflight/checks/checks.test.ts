import { describe, expect, it } from 'vitest';
import { decodeCluster } from '../../gardener/cluster.ts';
import { hostedShoot, proberConfig } from '../../prober/index.ts';
import { buildCluster, buildShoot } from '../../../test/doubles/builders.ts';
import { ignoreScalingAnnotation } from '../../annotations/scaling-annotations.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import { type ShootAnswer, checkApiServers } from './api-servers.ts';
import type { CountedNodes } from '../../status/state/judge-shoot.ts';
import { type CheckResult, statusOf } from './check.ts';
import { codes } from './codes.ts';
import {
  type FoundKind,
  type KindUse,
  checkImages,
  checkKind,
  checkProbers,
  checkRights,
  checkSeed,
  hintAt,
} from './seed.ts';
import {
  type SeenResource,
  checkDependent,
  checkGrace,
  checkMargin,
  checkSecrets,
  checkShoots,
  kcmAmong,
  probedAmong,
} from './shoots.ts';

const ref: ResourceRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kcm' };
const shootsOf = (...namespaces: readonly string[]) =>
  namespaces.map((namespace) => ({ namespace, version: '1.33.1', settings: { poolConditions: new Map() } }));

/** Formats a check in one line: its status, what it says, and its findings. */
const line = ({ detail, findings }: CheckResult): string => {
  const status = statusOf({ subject: 'seed', name: '', detail, findings });
  return [status, detail, ...findings.map((one) => `${one.code} ${one.shoot ?? '-'}: ${one.detail}`)].join(' | ');
};

it('kinds are served, and can be scaled', () => {
  const served: FoundKind = { kind: 'served', resource: 'deployments', namespaced: true, hasScale: true };
  const absent: FoundKind = { kind: 'not-served', problem: 'not there' };
  const mill = { apiVersion: 'example.com/v1', kind: 'Mill', name: 'mill' };
  const told = (use: KindUse, found: FoundKind): string => line(checkKind(use, found));
  expect([
    told({ ref, optional: false }, served),
    told('cluster', absent),
    told('machine', absent),
    told({ ref, optional: false }, { ...absent, hint: 'it serves X' }),
    told({ ref, optional: true }, absent),
    // A Deployment needs no scale.
    told({ ref, optional: false }, { ...served, hasScale: false }),
    told({ ref: mill, optional: false }, { ...served, hasScale: false }),
    told({ ref: mill, optional: true }, { ...served, namespaced: false }),
  ]).toMatchInlineSnapshot(`
    [
      "ok | served as deployments",
      "failed | not served | cluster-not-served -: not there",
      "failed | not served | machines-not-served -: not there",
      "failed | not served | kind-not-served -: apps/v1/Deployment/kcm: not there; it serves X",
      "ok | not served; it is optional",
      "ok | served as deployments",
      "failed | served as deployments | kind-not-scalable -: example.com/v1/Mill/mill cannot be scaled: it has no scale subresource",
      "failed | served as deployments | kind-not-scalable -: example.com/v1/Mill/mill cannot be scaled: it is not namespaced, so a shoot cannot have its own",
    ]
  `);
});

it.each([
  [undefined, [], undefined],
  [undefined, ['a/v1', 'a/v2'], 'the group is served as a/v1 and a/v2'],
  [['Etcd', 'EtcdCopyBackupsTask'], ['a/v1'], 'it serves Etcd'],
  [['Machine'], ['a/v1'], undefined],
])('near Etdc of kinds %j, versions %j: %s', (kinds, versions, hint) => {
  expect(hintAt('Etdc', { kinds, versions })).toBe(hint);
});

it('shoots are counted by the reason why they are not probed, and named if they cannot be read', () => {
  const seen = (name: string, shoot: object) => ({
    cluster: hostedShoot(decodeCluster(buildCluster({ name, shoot }), 'item')),
    version: '1.33.1',
  });
  const probed = seen('a', buildShoot());
  const asleep = seen('b', buildShoot({ hibernationEnabled: true }));
  const broken = seen('c', { metadata: {}, spec: { provider: { workers: 1 } } });
  const none = seen('d', buildShoot({ workers: [] }));
  const patient = seen('e', buildShoot({ nodeMonitorGracePeriod: '2m0s' }));
  expect(
    [[probed, asleep], [none, asleep, asleep], [broken]].map((all) => line(checkShoots(all))),
  ).toMatchInlineSnapshot(`
    [
      "ok | 1 of 2 shoots probed; 1 not: hibernation is enabled",
      "ok | 0 of 3 shoots probed; 2 not: hibernation is enabled; 1 not: the shoot has no workers",
      "failed | 0 of 1 shoot probed | cluster-unreadable c: spec.shoot.spec.provider.workers: expected a list, found a number",
    ]
  `);
  expect(probedAmong([probed, asleep, broken, patient])).toMatchObject([
    { namespace: 'a', settings: { nodeMonitorGraceMs: undefined } },
    { namespace: 'e', settings: { nodeMonitorGraceMs: 120_000 } },
  ]);
});

it('secrets are missing or unusable', () => {
  const secrets = new Map([
    ['a', {}],
    ['b', { problem: 'kubeconfig: users[0].user.exec: is refused' }],
  ]);
  const told = (isExternal: boolean): string =>
    line(checkSecrets(shootsOf('a', 'b', 'c'), secrets, { name: 's', isExternal }));
  expect([told(false), told(true)]).toMatchInlineSnapshot(`
    [
      "failed | usable in 1 of 3 shoots | secret-unusable b: kubeconfig: users[0].user.exec: is refused | secret-missing c: there is no Secret s",
      "warning | usable in 1 of 3 shoots | external-secret b: kubeconfig: users[0].user.exec: is refused | external-secret c: there is no Secret s",
    ]
  `);
});

it('dependent resources are missing, or have ignore-scaling', () => {
  const seen = new Map<string, SeenResource>([
    ['a', { annotations: {}, containers: [] }],
    ['b', { annotations: { [ignoreScalingAnnotation]: 'true' }, containers: [] }],
  ]);
  const told = (optional: boolean, ...shoots: readonly string[]): string =>
    line(checkDependent(shootsOf(...shoots), seen, { key: 'apps/v1/Deployment/kcm', optional }));
  expect([told(false, 'a', 'b', 'c'), told(true, 'a', 'b', 'c'), told(false)]).toMatchInlineSnapshot(`
    [
      "failed | in 2 of 3 shoots | dependent-ignored b: apps/v1/Deployment/kcm has the annotation dependency-watchdog.gardener.cloud/ignore-scaling | dependent-missing c: there is no apps/v1/Deployment/kcm",
      "warning | in 2 of 3 shoots; it is optional | dependent-ignored b: apps/v1/Deployment/kcm has the annotation dependency-watchdog.gardener.cloud/ignore-scaling",
      "ok | no shoot is probed",
    ]
  `);
});

describe('the grace period', () => {
  const kcm = (...args: readonly string[]): SeenResource => ({
    annotations: {},
    containers: [{ image: 'kcm:v1.33.1', commandLine: ['/kube-controller-manager', ...args] }],
  });

  it('is read from containers that run KCM, if it has another name', () => {
    const machines = { annotations: {}, containers: [{ image: 'mcm:v1', commandLine: ['/mcm'] }] };
    const own = kcm('--node-monitor-grace-period=20s');
    const seen = new Map([
      ['fleet/one', own],
      ['a', machines],
    ]);
    expect(kcmAmong([seen, new Map()])).toEqual(new Map([['fleet/one', own]]));
  });

  it('is compared with that of the Shoot, else with that of the configuration', () => {
    const told = (resource: SeenResource | undefined, nodeMonitorGraceMs?: number): string => {
      const seen = new Map(resource === undefined ? [] : [['a', resource]]);
      const settings = { poolConditions: new Map(), nodeMonitorGraceMs };
      return line(checkGrace([{ namespace: 'a', version: '', settings }], seen, 40_000));
    };
    expect([
      told(kcm('--node-monitor-grace-period=40s')),
      told(kcm('--node-monitor-grace-period=20s'), 20_000),
      told(kcm('--node-monitor-grace-period=20s')),
      told(kcm('--node-monitor-grace-period=40s'), 120_000),
      told(kcm()),
      told(kcm('--node-monitor-grace-period=x')),
      told(undefined),
    ]).toMatchInlineSnapshot(`
      [
        "ok | as configured in 1 of 1 shoot",
        "ok | as configured in 1 of 1 shoot",
        "failed | as configured in 0 of 1 shoot | grace-shorter a: KCM waits for 20s, but the configuration has 40s",
        "failed | as configured in 0 of 1 shoot | grace-shorter a: KCM waits for 40s, but the Shoot has 2m0s",
        "warning | as configured in 0 of 1 shoot | grace-longer a: KCM waits for 50s, the default of Kubernetes v1.33.1, but the configuration has 40s",
        "unknown | as configured in 0 of 1 shoot | grace-unknown a: --node-monitor-grace-period is "x", which is no duration greater than 0",
        "unknown | as configured in 0 of 1 shoot | grace-unknown a: there is no Deployment kube-controller-manager to read it from",
      ]
    `);
  });
});

it('the grace that the scale-down leaves is told, and shoots with too short a period of their own are named', () => {
  const told = (delay: string, graces: readonly number[], name = 'kube-controller-manager'): string | undefined => {
    const dependentResourceInfos = [
      { ref: { ...ref, name: 'first' }, scaleUp: {}, scaleDown: { initialDelay: delay, timeout: '5s' } },
      { ref: { ...ref, name }, scaleUp: { level: 1 }, scaleDown: { level: 1 } },
    ];
    const text = JSON.stringify({
      kubeConfigSecretName: 's',
      kcmNodeMonitorGraceDuration: '40s',
      dependentResourceInfos,
    });
    const { settings } = proberConfig.load(text, { unknownFields: 'error', purpose: 'ahead' });
    const shoots = [undefined, ...graces].map((nodeMonitorGraceMs, index) => ({
      ...{ namespace: `s${String(index)}`, version: '', settings: { poolConditions: new Map(), nodeMonitorGraceMs } },
    }));
    const checked = checkMargin(shoots, settings!);
    return checked && line(checked);
  };
  expect([
    told('0s', []),
    told('0s', [120_000]),
    told('1s', [36_000, 20_000]),
    told('10s', []),
    told('0s', [20_000], 'other'),
  ]).toMatchInlineSnapshot(`
    [
      "ok | 6s or more in 1 of 1 shoot",
      "ok | 6s or more in 2 of 2 shoots",
      "warning | 4s or more in 2 of 3 shoots | no-grace-left s2: the scale-down may come too late if pods are slow to stop: threshold at 15.0s, observation within 1.0s, level 0: 1.0s initialDelay + up to 3.0s, level 1: kube-controller-manager at 20.0s: KCM acts at 20.0s",
      "warning | some in 0 of 1 shoot | no-grace-left s0: the scale-down comes too late: threshold at 30.0s, observation within 1.0s, level 0: 10.0s initialDelay + up to 3.0s, level 1: kube-controller-manager at 44.0s: KCM acts at 40.0s",
      undefined,
    ]
  `);
});

it('rights are granted, or named, or none is', () => {
  const need = { right: { verb: 'list', group: '', resource: 'secrets', name: 's' }, purpose: 'to reach shoots' };
  const told = (missing: number, subject = 'garden/p'): string =>
    line(checkRights(subject, { needed: 3, missing: Array.from({ length: missing }, () => need) }));
  expect([told(0), told(1), told(3), told(3, 'yours')]).toMatchInlineSnapshot(`
    [
      "ok | 3 of 3 rights granted",
      "failed | 2 of 3 rights granted | right-missing -: to reach shoots: list resource "secrets" "s" in API group "" at the cluster scope",
      "failed | 0 of 3 rights granted | right-missing -: garden/p has none of the 3 rights: it is not installed yet, or has another name (--rights-of)",
      "failed | 0 of 3 rights granted | right-missing -: you have none of the 3 rights: --rights-of=NAMESPACE/NAME checks those of the prober's ServiceAccount",
    ]
  `);
});

it('the seed responds, and its clock agrees with ours to five seconds', () => {
  const told = (skewMs?: number) => checkSeed({ version: 'v1.33.1', roundTripMs: 2.1, skewMs }).map(line);
  expect([...told(5_000), ...[5_001, -6_000, undefined].map((skewMs) => told(skewMs)[1])]).toMatchInlineSnapshot(`
    [
      "ok | v1.33.1 responds in 3 ms",
      "ok | agrees within 5s",
      "warning | differs | seed-clock-skew -: the clock of the seed's API server is 5.0s ahead of this machine's",
      "warning | differs | seed-clock-skew -: the clock of the seed's API server is 6.0s behind this machine's",
      "unknown | could not be checked | read-failed -: it responded too slowly to compare clocks",
    ]
  `);
});

it('an installed prober has one leader; before an installation nothing is told', () => {
  const told = (leaders: Readonly<Record<string, string>>) => checkProbers(new Map(Object.entries(leaders))).map(line);
  expect([told({}), told({ garden: 'a', watch: '' }), told({ garden: '' })]).toMatchInlineSnapshot(`
    [
      [],
      [
        "ok | a leads, in namespace garden",
      ],
      [
        "warning | nobody leads | no-leader -: nobody holds the leader Lease in namespace garden",
      ],
    ]
  `);
});

it('the replicas of the installed prober run one image', () => {
  const images = new Map([
    ['a', 'dwd:1'],
    ['b', 'dwd:1'],
  ]);
  expect(line(checkImages(images))).toBe('ok | 2 replicas of dwd:1');
});

it('API servers of shoots answer, grant what the prober needs, and agree on the time', () => {
  const right = { verb: 'list', group: '', resource: 'nodes' };
  const answered = (skewMs = 0): ShootAnswer => ({ kind: 'answered', missing: [], skewMs });
  const counts = (candidates: number, ...leftOutReasons: NonNullable<CountedNodes['leftOutReasons']>): ShootAnswer => ({
    ...{ kind: 'answered', missing: [], nodes: { nodes: 3, candidates, leftOutReasons } },
  });
  const refused: ShootAnswer = {
    ...{ kind: 'answered', missing: [], nodes: { code: 'read-refused', detail: 'you may not list machines' } },
  };
  const lacking: ShootAnswer = { kind: 'answered', missing: [{ right, purpose: 'to judge' }] };
  const gone: ShootAnswer = { kind: 'unreachable', problem: 'no answer', isNameUnknown: false };
  const unknownName: ShootAnswer = { ...gone, isNameUnknown: true };
  const rejected: ShootAnswer = { kind: 'rejected', problem: '401' };
  const untried: ShootAnswer = { kind: 'untried', problem: 'late' };
  const told = (...answers: readonly ShootAnswer[]): readonly string[] =>
    checkApiServers(new Map(answers.map((answer, index) => [`s${String(index)}`, answer]))).map(line);
  expect([
    told(answered(), answered(5_000)),
    told(answered(), gone),
    told(gone, gone),
    // The network of this machine is the cause, or its DNS.
    told(gone, gone, gone),
    told(unknownName),
    told(rejected),
    told(answered(), untried),
    told(gone, gone, gone, rejected),
    told(unknownName, gone, untried),
    told(answered(-7_000)),
    told(lacking),
    told(counts(2), counts(1, { reason: 'its Machine has failed', nodes: 2 }), counts(0), refused, lacking).slice(3),
  ]).toMatchInlineSnapshot(`
    [
      [
        "ok | from 2 of 2 shoots",
        "ok | granted in 2 of 2 shoots",
        "ok | agree within 5s in 2 of 2 shoots",
      ],
      [
        "failed | from 1 of 2 shoots | shoot-unreachable s1: no answer",
        "ok | granted in 1 of 1 shoot",
        "ok | agree within 5s in 1 of 1 shoot",
      ],
      [
        "failed | from 0 of 2 shoots | shoot-unreachable s0: no answer | shoot-unreachable s1: no answer",
      ],
      [
        "unknown | could not be checked from here | shoots-out-of-reach -: this machine reaches 0 of 3 API servers: no answer",
      ],
      [
        "unknown | could not be checked from here | shoots-out-of-reach -: this machine reaches 0 of 1 API server: no answer",
      ],
      [
        "failed | from 0 of 1 shoot | secret-rejected s0: 401",
      ],
      [
        "unknown | from 1 of 2 shoots | read-failed s1: late",
        "ok | granted in 1 of 1 shoot",
        "ok | agree within 5s in 1 of 1 shoot",
      ],
      [
        "failed | from 0 of 4 shoots | shoot-unreachable s0: no answer | shoot-unreachable s1: no answer | shoot-unreachable s2: no answer | secret-rejected s3: 401",
      ],
      [
        "failed | from 0 of 3 shoots | shoot-unreachable s0: no answer | shoot-unreachable s1: no answer | read-failed s2: late",
      ],
      [
        "ok | from 1 of 1 shoot",
        "ok | granted in 1 of 1 shoot",
        "warning | agree within 5s in 0 of 1 shoot | shoot-clock-skew s0: its clock is 7.0s behind that of the seed's API server",
      ],
      [
        "ok | from 1 of 1 shoot",
        "failed | granted in 0 of 1 shoot | shoot-right-missing s0: to judge: list resource "nodes" in API group "" at the cluster scope",
        "ok | agree within 5s in 1 of 1 shoot",
      ],
      [
        "failed | 2 or more in 1 of 4 shoots | too-few-nodes s1: 1 of 3 nodes count, and an outage shows by two at least; not counted: 2 (its Machine has failed) | too-few-nodes s2: 0 of 3 nodes count, and an outage shows by two at least | read-refused s3: you may not list machines",
      ],
    ]
  `);
});

it('codes are in the order of their severity', () => {
  const severities = Object.values(codes).map(({ severity }) => severity);
  const rank = { failed: 0, warning: 1, unknown: 2 };
  expect(severities).toEqual(severities.toSorted((a, b) => rank[a] - rank[b]));
});
