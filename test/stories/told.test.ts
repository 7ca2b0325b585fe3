import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { editDeployment, editShoot } from '../../simulator/harness/support.ts';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { formatExplanation } from '../../src/cli/explain-output.ts';
import { formatStatus } from '../../src/cli/status-output.ts';
import { formatPause, pausedAnnotation } from '../../src/annotations/pause.ts';
import { ignoreScalingAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { judgeSeed } from '../../src/status/judge.ts';
import { stateInWords } from '../../src/status/state/judge-seed.ts';
import { type ShootStatus, statusSchema } from '../../src/status/state/schema.ts';
import { judgeOutages } from '../../src/steer/outages.ts';
import { createStory } from './support/story.ts';

// Every state, and every pair of things that were wrong at once in a played night, as all views tell of it at one instant.

let scenario: Scenario;

const kcm = 'kube-controller-manager';
const forbidden = (message: string) => ({ status: 403, reason: 'Forbidden', message });

/** Something that goes wrong. All act on the shoot `a`. */
const faults = {
  'kubelets cut': ({ world }) => world.shoot('a').cutKubelets(),
  'kubelets back': ({ world }) => world.shoot('a').restoreKubelets(),
  'token expired': (on) =>
    on.shootConnection('a').setFaults(() => ({ status: 401, reason: 'Unauthorized', message: 'Unauthorized' })),
  'Secret gone': ({ world }) =>
    world.store.remove(simKinds.Secret, { namespace: world.shoot('a').namespace, name: kubeconfigSecretName }),
  'API server away': (on) => on.shootConnection('a').setFaults(() => 'reset'),
  'API server back': (on) => on.shootConnection('a').setFaults(() => undefined),
  'nodes forbidden': (on) =>
    on
      .shootConnection('a')
      .setFaults(({ path }) => (path === '/api/v1/nodes' ? forbidden('nodes is forbidden') : undefined)),
  'ignore-scaling': (on) =>
    editDeployment(on, { shoot: 'a', name: 'kcm' }, (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, [ignoreScalingAnnotation]: 'true' },
      },
    })),
  'KCM missing': ({ world }) =>
    world.store.remove(simKinds.Deployment, { namespace: world.shoot('a').namespace, name: kcm }),
  'scaling refused': (on) =>
    on.seedConnection.setFaults(({ method, path }) =>
      method === 'PATCH' && path.includes(`/deployments/${kcm}`)
        ? forbidden('admission webhook limits.example denied the request')
        : undefined,
    ),
  paused: ({ world }) =>
    world.store.put(simKinds.Namespace, {
      metadata: {
        name: world.shoot('a').namespace,
        annotations: { [pausedAnnotation]: formatPause({ reason: 'LB maintenance', by: 'kim' }) },
      },
    }),
  hibernated: (on) =>
    editShoot(on, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, hibernation: { enabled: true } } })),
} as const satisfies Readonly<Record<string, (on: Scenario) => void>>;

type Fault = keyof typeof faults;

/** What may happen besides, at any time. */
const changes = {
  'KCM scaled up': (on) =>
    editDeployment(on, { shoot: 'a', name: 'kcm' }, (object) => ({
      ...object,
      spec: { ...(object.spec as object), replicas: 2 },
    })),
  restart: async (on) => {
    await on.stopProber();
    on.startProber();
  },
  reload: (on) => on.reload({ probeIntervalMs: 5_000 }),
  // A running prober keeps the former state of such a Shoot; one that starts then has none.
  undecodable: (on) =>
    editShoot(on, 'a', (shoot) => ({ ...shoot, status: { ...shoot.status, lastOperation: 'Reconcile' } })),
} as const satisfies Readonly<Record<string, (on: Scenario) => Promise<void> | void>>;

type Step = Fault | keyof typeof changes | number;

const namespaceOf = () => scenario.world.shoot('a').namespace;

const rowOf = (): ShootStatus => {
  const [row] = statusSchema.parse(scenario.status(namespaceOf())).shoots;
  return row ?? expect.unreachable('it is in no view');
};

const eventsOf = (): readonly string[] =>
  scenario.world.store
    .list(simKinds.Event, namespaceOf())
    .filter(({ involvedObject }) => (involvedObject as { kind: string }).kind === 'Namespace')
    .map(({ reason, message }) => `${String(reason)}: ${String(message)}`)
    .filter((line) => /Blind|Lacking|Back/.test(line));

/** Returns the series of the shoot, such as `unprotected blind`. */
const seriesOf = async (): Promise<readonly string[]> => {
  const text = await scenario.meter().metricsText();
  const own = text.split('\n').filter((line) => line.includes(`namespace="${namespaceOf()}"`) && !line.endsWith(' 0'));
  return own
    .flatMap(
      (line) =>
        /^dwd_prober_(outage_unmet|unprotected|blind_in_outage|held_unprobed)\{.*?(?:reason="([^"]*)")?\}/.exec(line) ??
        [],
    )
    .flatMap((_, index, all) => (index % 3 === 0 ? [[all[index + 1], all[index + 2]].filter(Boolean).join(' ')] : []));
};

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** Asks every view, and compares what they say. Returns the row. */
const tellAll = async (): Promise<ShootStatus> => {
  const status = statusSchema.parse(scenario.status());
  const row = rowOf();
  const at = status.at;
  const listed = status.shoots.find(({ namespace }) => namespace === namespaceOf());
  expect(listed).toMatchObject({ state: row.state, why: row.why, next: row.next, do: row.do });
  const objects = { lease: { holder: 'test', isFresh: true }, replicas: [], problems: [] };
  const seed = judgeSeed({ at, connectedTo: '', objects, answer: status, held: undefined, problems: [] });
  const piped = formatStatus(seed, { all: true });
  const screen = flat(formatStatus(seed, { all: true, columns: 80 }));
  const explained = flat(formatExplanation(row, { at, seed: 'x' }));
  for (const text of [flat(piped), screen, explained]) {
    expect(text).toContain(stateInWords(row));
    expect(text).toContain(flat(row.why));
    if (row.do !== '') expect(text).toContain(flat(row.do));
  }
  // release says of what is held whether its outage goes on.
  const held = row.held.map(({ kind, name, replicas }) => ({
    namespace: namespaceOf(),
    cluster: namespaceOf(),
    ref: { apiVersion: 'apps/v1', kind, name },
    annotations: { replicas: String(replicas) },
  }));
  const leader = { objects, answer: status, problem: undefined };
  const [outage] = judgeOutages({ held, leader, now: Date.parse(at) });
  if (held.length > 0) {
    expect(outage?.words).toContain(row.why);
    const isKnown = !['blind', 'not probed'].includes(row.state) && row.verdict !== undefined;
    if (!isKnown) {
      expect(outage).toMatchObject({
        isRefused: false,
        words: expect.stringMatching(/whether its outage continues/) as string,
      });
    }
  }
  // Metrics, and so alerts.
  const series = await seriesOf();
  expect(series.includes('outage_unmet')).toBe(row.state === 'losing nodes');
  expect(series.filter((one) => one.startsWith('unprotected'))).toEqual(
    row.causes.map((cause) => `unprotected ${cause}`),
  );
  const isUnseen = row.state === 'blind';
  const isOutage = row.verdict === 'unhealthy' || (row.candidates > 1 && row.expired === row.candidates);
  if (!isUnseen) expect(series).not.toContain('blind_in_outage');
  else if (isOutage || row.held.length > 0) expect(series).toContain('blind_in_outage');
  expect(series.includes('held_unprobed')).toBe(row.state === 'not probed' && row.held.length > 0);
  const again = eventsOf().filter((line) => line.includes('rotected again'));
  expect(again.filter((line) => !/again: 0\/\d expired\.$/.test(line))).toEqual([]);
  isTrue(row);
  return row;
};

/** Compares what is told with the world itself. */
const isTrue = (row: ShootStatus): void => {
  const all = [row.why, row.next.text, row.do].join(' ');
  const { world } = scenario;
  const up = world.store
    .list(simKinds.Deployment, namespaceOf())
    .filter(({ spec }) => (spec as { replicas: number }).replicas > 0);
  const isUp = (name: string): boolean => up.some(({ metadata }) => metadata.name === name);
  for (const { name } of row.held) expect(isUp(name), `${name} is told as held`).toBe(false);
  for (const { name } of row.up ?? []) expect(isUp(name), `${name} is told as up`).toBe(true);
  const renewals = new Map(
    world
      .shoot('a')
      .store.list(simKinds.Lease, 'kube-node-lease')
      .map(({ metadata, spec }) => [metadata.name, (spec as { readonly renewTime: string }).renewTime]),
  );
  const lookedAt = Date.parse(row.lookedAt ?? '');
  for (const { name, renewedAt } of row.leases ?? []) {
    const real = Date.parse(renewals.get(name) ?? '');
    // A later renewal is not seen yet; the server's stamps have whole seconds.
    if (real <= lookedAt - 1_500) expect(Math.abs(Date.parse(renewedAt ?? '') - real), name).toBeLessThanOrEqual(2_000);
  }
  if (row.next.at !== undefined) {
    expect(Date.parse(row.next.at) + 1_000, row.next.text).toBeGreaterThanOrEqual(scenario.clock.now());
  }
  if (row.since !== undefined) expect(Date.parse(row.since), 'since').toBeLessThanOrEqual(scenario.clock.now());
  if (row.state === 'blind') {
    expect(all).not.toMatch(/outage continues|restored when|renew again/);
    const counts = /\d+\/\d+ (?:expired|silent)/.exec(row.why);
    if (counts !== null) expect(row.why.slice(0, counts.index)).toMatch(/as of \d\d:\d\d:\d\d $/);
  }
  expect(all).not.toMatch(/undefined|NaN|\[object/);
};

const play = async (...steps: readonly Step[]): Promise<ShootStatus> => {
  scenario = createStory({ shoots: [{ name: 'a' }, { name: 'b' }] });
  scenario.startProber();
  await scenario.clock.advance(60_000);
  for (const step of steps) {
    if (typeof step === 'number') {
      // All views agree at every instant on the way.
      for (let ms = 0; ms < step * 1_000; ms += 5_000) {
        await scenario.clock.advance(Math.min(5_000, step * 1_000 - ms));
        await tellAll();
      }
    } else await { ...faults, ...changes }[step](scenario);
  }
  return tellAll();
};

/** The words of each state are in src/status/state/fixtures/told.txt: here are those that name what a run has met. */
it.each<[steps: readonly Step[], state: string, why?: RegExp, event?: RegExp]>([
  [[60], 'healthy'],
  [['kubelets cut', 60], 'HELD'],
  [['kubelets cut', 60, 'kubelets back', 35], 'RESTORING'],
  [
    ['token expired', 60],
    'BLIND',
    /^.*401.* \(Secret shoot--sim--a\/\S+, key kubeconfig\); as of \d\d:\d\d:\d\d 0\/5 expired$/,
    /^MeltdownProtectionBlind: .*401.* To do: renew the Secret shoot--sim--a/,
  ],
  [['API server away', 'restart', 3], 'NOT PROBED', /^its first probe failed: connection reset by peer/],
  [['Secret gone', 60], 'BLIND', /^Secret shoot--sim--a\/\S+: there is no such Secret/, /Blind/],
  [['API server away', 60], 'BLIND', /^connection reset by peer \([\w.-]*:443\)/, /Blind/],
  [['nodes forbidden', 400], 'NOT PROTECTED', /nodes is forbidden/, /^MeltdownProtectionLacking: .*cannot be listed/],
  [['ignore-scaling', 60], 'NOT PROTECTED', /^ignore-scaling/, /Lacking/],
  [['KCM missing', 60], 'NOT PROTECTED', /^there is no kube-controller-manager/, /Lacking/],
  [['paused', 60], 'PAUSED'],
  [['hibernated', 60], 'not probed'],
  [['kubelets cut', 60, 'token expired', 60, 'kubelets back', 60], 'HELD, BLIND', /^401/, /Blind/],
  [['kubelets cut', 60, 'nodes forbidden', 60, 'kubelets back', 60], 'HELD, BLIND', /^its nodes/, /Blind/],
  [
    ['nodes forbidden', 30, 'kubelets cut', 60],
    'BLIND',
    /^its nodes cannot be listed: .*as of \S+ 5\/5 expired$/,
    /Blind/,
  ],
  [['kubelets cut', 20, 'token expired', 60], 'BLIND', /^401 .*; as of \S+ 5\/5 silent for \d+s$/, /Blind/],
  [['paused', 30, 'kubelets cut', 60], 'LOSING NODES', /are still up; paused until/, /Back/],
  [['scaling refused', 30, 'kubelets cut', 60], 'LOSING NODES', /could not be scaled: 403 .*limits\.example/],
  [['ignore-scaling', 30, 'kubelets cut', 60], 'LOSING NODES', /keeps kube-controller-manager up/, /Lacking/],
  [['KCM missing', 30, 'kubelets cut', 60], 'HELD, NOT PROTECTED', /there is no kube-controller-manager/, /Lacking/],
  [['kubelets cut', 60, 'paused', 30], 'HELD', /; paused until/],
  [
    ['kubelets cut', 60, 'paused', 10, 'KCM scaled up', 10],
    'LOSING NODES',
    /^5\/5 expired; kube-controller-manager is still up; held: machine-controller-manager/,
    /Back/,
  ],
  [['kubelets cut', 60, 'paused', 30, 'token expired', 60], 'HELD, BLIND', /; paused until/, /Blind/],
  [
    ['kubelets cut', 60, 'scaling refused', 10, 'kubelets back', 60],
    'RESTORING',
    /held: kube-controller.*could not be scaled: 403/,
  ],
  [
    ['kubelets cut', 'API server away', 40, 'API server back', 10],
    'healthy',
    /silence counts from \d\d:\d\d:\d\d/,
    /No longer blind/,
  ],
  [
    ['kubelets cut', 60, 'scaling refused', 'hibernated', 305],
    'HELD, NOT PROBED',
    /^hibernation is enabled; held: .*could not be scaled: 403/,
  ],
  [
    ['kubelets cut', 60, 'undecodable', 'restart', 60, 'reload', 10, 'KCM scaled up', 10],
    'HELD, NOT PROBED',
    /^its Cluster cannot be decoded: .*lastOperation.*; held: machine-controller-manager/,
  ],
  [['token expired', 60, 'hibernated', 30], 'not probed', /^hibernation is enabled$/, /Blind/],
  [['ignore-scaling', 30, 'kubelets cut', 60, 'kubelets back', 30], 'RESTORING', /^0\/5 expired; held/, /Lacking/],
])('%j: %s', async (steps, state, why = /./, event) => {
  const row = await play(...steps);
  expect([stateInWords(row), row.why]).toEqual([state, expect.stringMatching(why)]);
  if (!steps.includes('kubelets cut')) expect(await seriesOf()).not.toContain('blind_in_outage');
  if (event === undefined) expect(eventsOf()).toEqual([]);
  else expect(eventsOf()).toContainEqual(expect.stringMatching(event));
});

it('of healthy shoots no view, Event or alert tells anything for an hour', async () => {
  scenario = createStory({ shoots: [{ name: 'a' }, { name: 'b' }] });
  scenario.startProber();
  await scenario.clock.advance(60_000);
  for (let minute = 0; minute < 60; minute += 1) {
    await scenario.clock.advance(60_000);
    const row = await tellAll();
    expect([row.state, row.do, await seriesOf()]).toEqual(['healthy', '', []]);
  }
  expect(eventsOf()).toEqual([]);
});

it('every other pair agrees in all views, at every instant', async () => {
  const names = Object.keys(faults) as Fault[];
  for (const [index, one] of names.entries()) {
    for (const other of names.slice(index + 1)) {
      if (one === 'KCM missing' && other === 'ignore-scaling') continue;
      if (one === 'ignore-scaling' && other === 'KCM missing') continue;
      await play(one, 45, other, 60);
      await scenario.stop();
    }
  }
}, 120_000);
