import { describe, expect, it } from 'vitest';
import { decodeCluster } from '../../gardener/cluster.ts';
import { hostedShoot } from '../../prober/index.ts';
import { buildCluster, buildShoot } from '../../../test/doubles/builders.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import { type ShootAnswer, checkApiServers } from './api-servers.ts';
import { type CheckResult, statusOf } from './check.ts';
import { rankOf } from './codes.ts';
import { type FoundKind, type KindUse, checkKind, checkProbers, checkRights, checkSeed, hintAt } from './seed.ts';
import {
  type SeenResource,
  checkDependent,
  checkGrace,
  checkSecrets,
  checkShoots,
  kcmAmong,
  probedAmong,
} from './shoots.ts';

const ref: ResourceRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kcm' };
const shootsOf = (...namespaces: readonly string[]) =>
  namespaces.map((namespace) => ({ namespace, version: '1.33.1' }));

/** Returns the parts of a check that the tests compare. */
const short = (check: CheckResult) => ({
  status: statusOf({ subject: 'seed', name: '', ...check }),
  detail: check.detail,
  found: check.findings.map(({ code, shoot = '-', detail }) => `${code} ${shoot}: ${detail}`),
});

describe('kinds', () => {
  const served: FoundKind = { kind: 'served', resource: 'deployments', namespaced: true, hasScale: true };
  const absent: FoundKind = { kind: 'not-served', problem: 'not there' };
  const dependent = (optional = false, of = ref): KindUse => ({ ref: of, optional });
  const mill = { apiVersion: 'example.com/v1', kind: 'Mill', name: 'mill' };

  it.each<[string, KindUse, FoundKind, readonly string[]]>([
    ['a kind that is served', dependent(), served, []],
    ['no Cluster', 'cluster', absent, ['cluster-not-served -: not there']],
    ['no Machine', 'machine', absent, ['machines-not-served -: not there']],
    [
      'no such kind',
      dependent(),
      { ...absent, hint: 'it serves X' },
      ['kind-not-served -: apps/v1/Deployment/kcm: not there; it serves X'],
    ],
    ['an optional kind that is not served', dependent(true), absent, []],
    ['a Deployment needs no scale', dependent(), { ...served, hasScale: false }, []],
    [
      'a custom resource without a scale',
      dependent(false, mill),
      { ...served, hasScale: false },
      ['kind-not-scalable -: example.com/v1/Mill/mill cannot be scaled: it has no scale subresource'],
    ],
    [
      'a kind that is not namespaced',
      dependent(true, mill),
      { ...served, namespaced: false },
      [
        'kind-not-scalable -: example.com/v1/Mill/mill cannot be scaled: it is not namespaced, so a shoot cannot have its own',
      ],
    ],
  ])('%s', (_, use, found, expected) => {
    expect(short(checkKind(use, found)).found).toEqual(expected);
  });

  it.each([
    [undefined, [], undefined],
    [undefined, ['a/v1', 'a/v2'], 'the group is served as a/v1 and a/v2'],
    [['Etcd', 'EtcdCopyBackupsTask'], ['a/v1'], 'it serves Etcd'],
    [['Machine'], ['a/v1'], undefined],
  ])('near Etdc of kinds %j, versions %j: %s', (kinds, versions, hint) => {
    expect(hintAt('Etdc', { kinds, versions })).toBe(hint);
  });
});

describe('shoots', () => {
  const seen = (json: unknown) => ({ cluster: hostedShoot(decodeCluster(json, 'item')), version: '1.33.1' });
  const probed = seen(buildCluster({ name: 'a', shoot: buildShoot() }));
  const asleep = seen(buildCluster({ name: 'b', shoot: buildShoot({ hibernationEnabled: true }) }));
  const broken = seen(buildCluster({ name: 'c', shoot: { metadata: {}, spec: { provider: { workers: 1 } } } }));

  it('that hibernate are counted, without a finding', () => {
    expect(short(checkShoots([probed, asleep]))).toEqual({
      status: 'ok',
      detail: '1 of 2 shoots probed; 1 not: hibernation is enabled',
      found: [],
    });
    const patient = seen(buildCluster({ name: 'd', shoot: buildShoot({ nodeMonitorGracePeriod: '2m0s' }) }));
    expect(probedAmong([probed, asleep, broken, patient])).toEqual([
      { namespace: 'a', version: '1.33.1' },
      { namespace: 'd', version: '1.33.1', nodeMonitorGraceMs: 120_000 },
    ]);
  });

  it('are counted by the reason why they are not probed, the most frequent first', () => {
    const none = seen(buildCluster({ name: 'd', shoot: buildShoot({ workers: [] }) }));
    expect(checkShoots([none, asleep, asleep]).detail).toMatch(/^0 of 3 shoots probed; 2 not: .+; 1 not: .+$/);
  });

  it('that cannot be read are named', () => {
    const { status, found } = short(checkShoots([broken]));
    expect(status).toBe('failed');
    expect(found).toEqual([expect.stringMatching(/^cluster-unreadable c: spec\.shoot\.spec\.provider\.workers: /)]);
  });
});

describe('secrets', () => {
  const secrets = new Map([
    ['a', {}],
    ['b', { problem: 'kubeconfig: users[0].user.exec: is refused' }],
  ]);
  it.each([
    [
      false,
      ['secret-unusable b: kubeconfig: users[0].user.exec: is refused', 'secret-missing c: there is no Secret s'],
    ],
    [
      true,
      ['external-secret b: kubeconfig: users[0].user.exec: is refused', 'external-secret c: there is no Secret s'],
    ],
  ])('that are missing or unusable (external probe: %s)', (isExternal, found) => {
    const check = checkSecrets(shootsOf('a', 'b', 'c'), secrets, { name: 's', isExternal });
    expect(short(check)).toEqual({
      status: isExternal ? 'warning' : 'failed',
      detail: 'usable in 1 of 3 shoots',
      found,
    });
  });
});

describe('dependent resources', () => {
  const resource = (annotations: Readonly<Record<string, string>> = {}): SeenResource => ({
    annotations,
    containers: [],
  });
  const ignore = 'dependency-watchdog.gardener.cloud/ignore-scaling';
  const seen = new Map([
    ['a', resource()],
    ['b', resource({ [ignore]: 'true' })],
  ]);
  const key = 'apps/v1/Deployment/kcm';
  const ignored = `dependent-ignored b: apps/v1/Deployment/kcm has the annotation ${ignore}`;

  it.each([
    [false, 'in 2 of 3 shoots', [ignored, 'dependent-missing c: there is no apps/v1/Deployment/kcm']],
    [true, 'in 2 of 3 shoots; it is optional', [ignored]],
  ])('that are missing, or have ignore-scaling (optional: %s)', (optional, detail, found) => {
    expect(short(checkDependent(shootsOf('a', 'b', 'c'), seen, { key, optional }))).toMatchObject({
      detail,
      found,
    });
  });

  it('are ok if no shoot is probed', () => {
    expect(short(checkDependent([], seen, { key, optional: false }))).toMatchObject({
      status: 'ok',
      detail: 'no shoot is probed',
    });
  });
});

describe('the grace period', () => {
  const kcm = (...args: readonly string[]): SeenResource => ({
    annotations: {},
    containers: [{ image: 'kcm:v1.33.1', commandLine: ['/kube-controller-manager', ...args] }],
  });
  const judge = (resource: SeenResource | undefined, nodeMonitorGraceMs?: number) => {
    const seen = new Map(resource === undefined ? [] : [['a', resource]]);
    return short(checkGrace([{ namespace: 'a', version: '', nodeMonitorGraceMs }], seen, 40_000));
  };

  it('is read from containers that run KCM, if it has another name', () => {
    const machines = { annotations: {}, containers: [{ image: 'mcm:v1', commandLine: ['/mcm'] }] };
    const own = kcm('--node-monitor-grace-period=20s');
    const seen = new Map([
      ['fleet/one', own],
      ['a', machines],
    ]);
    expect(kcmAmong([seen, new Map()])).toEqual(new Map([['fleet/one', own]]));
  });

  it.each([
    [kcm('--node-monitor-grace-period=40s'), undefined],
    [kcm('--node-monitor-grace-period=20s'), 20_000],
  ])('is ok if it equals the one of the configuration or of the Shoot', (resource, own) => {
    expect(judge(resource, own)).toEqual({ status: 'ok', detail: 'as configured in 1 of 1 shoot', found: [] });
  });

  it.each([
    [
      kcm('--node-monitor-grace-period=20s'),
      undefined,
      'failed',
      'grace-shorter a: KCM waits for 20s, but the configuration has 40s',
    ],
    [
      kcm('--node-monitor-grace-period=40s'),
      120_000,
      'failed',
      'grace-shorter a: KCM waits for 40s, but the Shoot has 2m0s',
    ],
    [
      kcm(),
      undefined,
      'warning',
      'grace-longer a: KCM waits for 50s, the default of Kubernetes v1.33.1, but the configuration has 40s',
    ],
    [
      kcm('--node-monitor-grace-period=x'),
      undefined,
      'unknown',
      'grace-unknown a: --node-monitor-grace-period is "x", which is no duration greater than 0',
    ],
    [
      undefined,
      undefined,
      'unknown',
      'grace-unknown a: there is no Deployment kube-controller-manager to read it from',
    ],
  ])('is reported if it differs or cannot be read', (resource, own, status, finding) => {
    expect(judge(resource, own)).toEqual({ status, detail: 'as configured in 0 of 1 shoot', found: [finding] });
  });
});

describe('rights', () => {
  const need = { right: { verb: 'list', group: '', resource: 'secrets', name: 's' }, purpose: 'to reach shoots' };
  const check = (needed: number, missing: number, subject = 'garden/p') =>
    short(checkRights(subject, { needed, missing: Array.from({ length: missing }, () => need) }));

  it.each([
    [3, 0, 'ok', []],
    [
      3,
      1,
      'failed',
      ['right-missing -: to reach shoots: list resource "secrets" "s" in API group "" at the cluster scope'],
    ],
    [
      3,
      3,
      'failed',
      [
        'right-missing -: garden/p has none of the 3 rights: it is not installed yet, or has another name (--rights-of)',
      ],
    ],
  ])('of %d, %d are missing', (needed, missing, status, found) => {
    expect(check(needed, missing)).toMatchObject({ status, found });
  });

  it('of the user who runs the command, are all missing', () => {
    expect(check(3, 3, 'yours').found).toEqual([
      "right-missing -: you have none of the 3 rights: --rights-of=NAMESPACE/NAME checks those of the prober's ServiceAccount",
    ]);
  });
});

describe('the seed', () => {
  it.each([
    [5_000, []],
    [5_001, ["seed-clock-skew -: the clock of the seed's API server is 5.0s ahead of this machine's"]],
    [-6_000, ["seed-clock-skew -: the clock of the seed's API server is 6.0s behind this machine's"]],
    [undefined, ['read-failed -: it responded too slowly to compare clocks']],
  ])('with a clock that differs by %s ms', (skewMs, found) => {
    const checks = checkSeed({ version: 'v1.33.1', roundTripMs: 2.1, skewMs }).map(short);
    expect(checks).toMatchObject([{ detail: 'v1.33.1 responds in 3 ms', found: [] }, { found }]);
  });
});

describe('probers', () => {
  const lease = (holder: string, ageMs = 2_000) => ({ holder, ageMs, durationMs: 15_000 });
  const judge = (leases: Readonly<Record<string, ReturnType<typeof lease>>>) =>
    checkProbers(new Map(Object.entries(leases))).map(short);

  it.each([
    ['none', {}],
    ['one', { garden: lease('a') }],
    ['another one that has ended', { garden: lease('a'), watch: lease('b', 30_000), other: lease('') }],
  ])('are fine: %s', (_, leases) => {
    expect(judge(leases)).toEqual([]);
  });

  it('are named if several are active', () => {
    const found = ['several-probers -: probers are active in several namespaces: garden (a), watch (b)'];
    expect(judge({ garden: lease('a'), watch: lease('b') })).toEqual([
      { status: 'warning', detail: '2 are active', found },
    ]);
  });
});

describe('API servers of shoots', () => {
  const answered = (skewMs?: number): ShootAnswer => ({
    kind: 'answered',
    missing: [],
    skewMs,
  });
  const gone = (isNameUnknown = false): ShootAnswer => ({ kind: 'unreachable', problem: 'no answer', isNameUnknown });
  const judge = (...answers: readonly ShootAnswer[]) =>
    checkApiServers(new Map(answers.map((answer, index) => [`s${String(index)}`, answer]))).map(short);

  it.each<[string, readonly ShootAnswer[], readonly (readonly string[])[]]>([
    ['all well', [answered(), answered(5_000)], [[], [], []]],
    ['one does not respond', [answered(), gone()], [['shoot-unreachable s1: no answer'], [], []]],
    ['two do not respond', [gone(), gone()], [['shoot-unreachable s0: no answer', 'shoot-unreachable s1: no answer']]],
    [
      'three do not respond',
      [gone(), gone(), gone()],
      [['shoots-out-of-reach -: this machine reaches 0 of 3 API servers: no answer']],
    ],
    [
      'an unknown DNS name',
      [gone(true)],
      [['shoots-out-of-reach -: this machine reaches 0 of 1 API server: no answer']],
    ],
    ['credentials', [{ kind: 'rejected', problem: '401' }], [['secret-rejected s0: 401']]],
    ['no time left', [answered(), { kind: 'untried', problem: 'late' }], [['read-failed s1: late'], [], []]],
    [
      'three do not respond, and one refuses our credentials',
      [gone(), gone(), gone(), { kind: 'rejected', problem: '401' }],
      [[0, 1, 2].map((n) => `shoot-unreachable s${String(n)}: no answer`).concat('secret-rejected s3: 401')],
    ],
    [
      'two do not respond, one of them by an unknown DNS name, and no time is left for others',
      [gone(true), gone(), { kind: 'untried', problem: 'late' }],
      [['shoot-unreachable s0: no answer', 'shoot-unreachable s1: no answer', 'read-failed s2: late']],
    ],
    [
      'clocks',
      [answered(-7_000)],
      [[], [], ["shoot-clock-skew s0: its clock is 7.0s behind that of the seed's API server"]],
    ],
  ])('%s', (_, answers, found) => {
    expect(judge(...answers).map((check) => check.found)).toEqual(found);
  });

  it('name the rights that the prober lacks there', () => {
    const right = { verb: 'list', group: '', resource: 'nodes' };
    const [, rights] = judge({ kind: 'answered', missing: [{ right, purpose: 'to judge' }] });
    expect(rights).toEqual({
      status: 'failed',
      detail: 'granted in 0 of 1 shoot',
      found: ['shoot-right-missing s0: to judge: list resource "nodes" in API group "" at the cluster scope'],
    });
  });
});

it('findings are ranked by their severity, then in the order of their codes', () => {
  const ranked = ['read-failed', 'several-probers', 'grace-longer', 'right-missing', 'kind-not-served'] as const;
  expect(ranked.toSorted((a, b) => rankOf(a) - rankOf(b))).toEqual([
    'kind-not-served',
    'right-missing',
    'several-probers',
    'grace-longer',
    'read-failed',
  ]);
});
