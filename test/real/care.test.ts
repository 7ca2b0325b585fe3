import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { careConfig } from '../../src/care/config.ts';
import { careGardenGrants, careGrants, careShootGrants } from '../../src/care/rights.ts';
import { createTunnelConnector } from '../../src/kubernetes/connection/port-forward.ts';
import { systemClock } from '../../src/process/clock.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { gardenerKinds } from '../envtest/crds.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { type Kubelets, createMachines } from '../envtest/shoot.ts';
import { type SwallowingProxy, startSwallowingProxy } from '../envtest/swallowing-proxy.ts';
import { waitFor } from '../envtest/waiting.ts';
import {
  careGardenKinds,
  careKinds,
  createCareShoot,
  createInsideOfShoot,
  namespaceOf,
  shootPath,
} from './support/care-shoot.ts';
import { type Program, startProgram } from './support/program.ts';
import { compareRights, rulesOf } from './support/rights.ts';

const nodes = ['node-a', 'node-b', 'node-c'];
const config = `
syncPeriod: 1s
conditionThresholds:
  - {type: ControlPlaneHealthy, duration: 3s}
`;
const seedGrants = careGrants(careConfig.load(config, { unknownFields: 'error' }).settings!);
const ownTypes = [
  'APIServerAvailable',
  'ControlPlaneHealthy',
  'ObservabilityComponentsHealthy',
  'EveryNodeReady',
  'SystemComponentsHealthy',
];

const mayNotGet =
  '403 Forbidden: pods "vpn-shoot-2" is forbidden: User "tunnel-create" cannot get resource "pods/portforward" in API group "" in the namespace "kube-system"';
const forward = { apiGroups: [''], resources: ['pods/portforward'], namespace: 'kube-system' };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface Shoot {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly status: { readonly conditions?: readonly Condition[] };
}

// Shoot `one` has nodes, `two` has no workers, no byte comes back from the API server of `hung`, and gardenlet writes the conditions of `theirs`.
describeEnvtest('care on real API servers', () => {
  let directory: string;
  let garden: ControlPlane;
  let seed: ControlPlane;
  let shoot: ControlPlane;
  let hole: SwallowingProxy;
  let kubelets: Kubelets;
  let program: Program;
  let flags: readonly string[];
  let once: readonly string[];

  const byGardenlet = (status: object): Promise<unknown> =>
    garden.client.patch(`${shootPath('theirs')}/status?fieldManager=gardenlet`, { status });

  const start = (...more: readonly string[]): Program =>
    startProgram(['care', ...flags, '--metrics-bind-addr=0', '--health-bind-addr=0', ...more]);

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-care-'));
    hole = await startSwallowingProxy({ host: '127.0.0.1', port: 1 });
    hole.cutOff();
    const kinds = [...new Set([...gardenerKinds, ...careKinds])];
    [garden, seed, shoot] = await Promise.all([
      startControlPlane({ name: 'garden', isAudited: true, kinds: careGardenKinds }),
      startControlPlane({ name: 'seed', isAudited: true, kinds }),
      startControlPlane({ name: 'shoot', isAudited: true, kinds: [] }),
    ]);
    kubelets = await createInsideOfShoot(shoot.client, nodes);
    const { text } = await shoot.kubeconfigFor({ user: 'care', rules: rulesOf(careShootGrants) });
    const planes = { garden, seed };
    await createCareShoot(planes, { name: 'one', kubeconfig: text, nodes });
    await createMachines(seed.client, { namespace: namespaceOf('one'), nodes });
    for (const name of ['two', 'theirs']) await createCareShoot(planes, { name, kubeconfig: text, nodes: [] });
    const hung = text.replace(shoot.url, `https://127.0.0.1:${String(hole.port)}`);
    expect(hung).not.toBe(text);
    await createCareShoot(planes, { name: 'hung', kubeconfig: hung, nodes: [] });
    const now = new Date().toISOString();
    const written = { reason: 'Gardenlet', message: 'theirs', lastTransitionTime: now, lastUpdateTime: now };
    await byGardenlet({ conditions: [{ type: 'APIServerAvailable', status: 'Unknown', ...written }] });
    const access = await Promise.all([
      seed.kubeconfigFor({ user: 'care', rules: rulesOf(seedGrants) }),
      garden.kubeconfigFor({ user: 'care', rules: rulesOf(careGardenGrants) }),
    ]);
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    // A check has half a second with a period of one. A new process on a busy machine may need more for its first connection.
    const patientFile = join(directory, 'patient.yaml');
    writeFileSync(patientFile, '{}');
    once = ['--once', `--config-file=${patientFile}`];
    flags = [
      ...[`--config-file=${configFile}`, `--kubeconfig=${access[0].file}`, `--garden-kubeconfig=${access[1].file}`],
      ...['--kube-api-qps=100', '--kube-api-burst=200'],
    ];
    program = start();
  });

  afterAll(async () => {
    program.signal('SIGTERM');
    await program.ended;
    await kubelets.stop();
    await Promise.all([garden, seed, shoot, hole].map((one) => one.stop()));
    rmSync(directory, { recursive: true });
  });

  const read = (name: string): Promise<Shoot> => garden.client.get<Shoot>(shootPath(name));
  const conditionsOf = async (name: string): Promise<readonly Condition[]> =>
    (await read(name)).status.conditions ?? [];

  const until = async (name: string, type: string, expected: Partial<Condition>): Promise<Condition> => {
    let last: Condition | undefined;
    const what = `${type} of ${name} ${JSON.stringify(expected)}`;
    const attempt = async (): Promise<Condition | undefined> => {
      last = (await conditionsOf(name)).find((condition) => condition.type === type);
      const fits = Object.entries(expected).every(([key, value]) => last?.[key as keyof Condition] === value);
      return fits ? last : undefined;
    };
    const detail = (): string => `it is ${JSON.stringify(last)}\n${program.output()}`;
    return waitFor({ what, detail }, attempt);
  };

  const isOk = { status: 'True' };

  it('writes the conditions and the label of shoots while the API server of another shoot hangs', async () => {
    await until('one', 'EveryNodeReady', { ...isOk, reason: 'EveryNodeReady', message: 'All nodes are ready.' });
    await until('one', 'ControlPlaneHealthy', isOk);
    await until('two', 'SystemComponentsHealthy', isOk);
    expect((await conditionsOf('one')).map(({ type }) => type)).toEqual(ownTypes);
    expect((await conditionsOf('two')).map(({ type }) => type)).toEqual(
      ownTypes.filter((it) => it !== 'EveryNodeReady'),
    );
    await waitFor({ what: 'label' }, async () => {
      const label = (await read('two')).metadata.labels?.['shoot.gardener.cloud/status'];
      return label === 'healthy';
    });
    const down = await until('hung', 'APIServerAvailable', { reason: 'HealthzRequestFailed', status: 'False' });
    expect(down.message).toContain('no response within');
  });

  it("reports the API server's message if the tunnel is broken", async () => {
    const tunnel = await until('one', 'SystemComponentsHealthy', { status: 'False', reason: 'TunnelConnectionBroken' });
    expect(tunnel.message).toBe(
      'Tunnel connection has not been established (GET /api/v1/namespaces/kube-system/pods/vpn-shoot-1/portforward: 400 BadRequest: pod vpn-shoot-1 does not have a host assigned)',
    );
  });

  it.each([
    ['vpn-shoot-1', rulesOf(careShootGrants), '400 BadRequest: pod vpn-shoot-1 does not have a host assigned'],
    ['vpn-shoot-2', rulesOf(careShootGrants), '500 ServerError: no preferred addresses found'],
    ['vpn-shoot-2', [{ ...forward, verbs: ['create'] }], mayNotGet],
    // For a refused upgrade, the API server does not name the missing right.
    ['vpn-shoot-2', [{ ...forward, verbs: ['get'] }], '403 Forbidden: pods "vpn-shoot-2" is forbidden:'],
  ])('opens no tunnel to %s (%#)', async (pod, rules, message) => {
    const { text } = await shoot.kubeconfigFor({ user: `tunnel-${rules[0]?.verbs.join('-') ?? ''}`, rules });
    const tunnels = createTunnelConnector({ clock: systemClock(), userAgent: 'test' });
    const target = { namespace: 'kube-system', pod, port: 22 };
    await expect(tunnels.connect(text, target, new AbortController().signal)).rejects.toThrow(
      `GET /api/v1/namespaces/kube-system/pods/${pod}/portforward: ${message}`,
    );
  });

  it('reports at the start which rights it lacks in the garden, and limits its rate of requests there', async () => {
    const rules = rulesOf(careGardenGrants.filter(({ resource }) => resource !== 'shoots/status'));
    const { file } = await garden.kubeconfigFor({ user: 'narrow', rules });
    const [port = 0] = await freePorts(1);
    const narrow = start(`--garden-kubeconfig=${file}`, '--dry-run', `--metrics-bind-addr=127.0.0.1:${port}`);
    const metric = async (name: string): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
      return Number(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'm').exec((await answer?.text()) ?? '')?.[1]);
    };
    try {
      await waitFor({ what: 'the missing right' }, async () => (await metric('dwd_missing_garden_rights')) === 1);
      const named = narrow.lines().filter(({ msg }) => msg === 'a right is missing in the garden: grant it');
      expect(named.map(({ right }) => right)).toEqual([
        'patch resource "shoots/status" in API group "core.gardener.cloud" at the cluster scope',
      ]);
      await waitFor(
        { what: 'a request that passed the rate limit of the garden' },
        async () => (await metric('dwd_garden_rate_limit_wait_seconds_count')) > 0,
      );
    } finally {
      narrow.signal('SIGTERM');
      expect(await narrow.ended).toBe(0);
    }
    expect(program.lines().some(({ msg }) => msg === 'no right is missing in the garden')).toBe(true);
  });

  it('leaves conditions to gardenlet, whose writes managedFields show, until it is told to take them over', async () => {
    expect(await conditionsOf('theirs')).toMatchObject([{ reason: 'Gardenlet' }]);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
    program = start('--take-over');
    await until('theirs', 'APIServerAvailable', isOk);
  });

  it('keeps what it has taken over while gardenlet writes the progress of an operation', async () => {
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
    // Moves the time of gardenlet's entry, which still owns the types of the conditions.
    await byGardenlet({ lastOperation: { type: 'Reconcile', state: 'Succeeded', progress: 100 } });
    const label = 'shoot.gardener.cloud/status';
    await garden.client.patch(shootPath('theirs'), { metadata: { labels: { [label]: null } } });
    program = start();
    const detail = (): string => program.output();
    await waitFor({ what: `the label ${label}`, detail }, async () => (await read('theirs')).metadata.labels?.[label]);
  });

  it('needs exactly the rights that it declares', () => {
    for (const [plane, granted] of [
      [garden, careGardenGrants],
      [seed, seedGrants],
      [shoot, careShootGrants],
    ] as const) {
      const requests = plane.requests().filter(({ user }) => user === 'care');
      const { unused, refused } = compareRights(granted, requests);
      // An upgrade is a GET that needs the right to create, too.
      const missed = unused.filter((right) => right !== 'create pods/portforward');
      expect([plane.name, missed, refused]).toEqual([plane.name, [], []]);
    }
    // Node would write its warnings between the lines of the log.
    expect(program.lines().filter(({ ts }) => ts === undefined)).toEqual([]);
  });

  it('prints the result of --once', async () => {
    const well = start(...once, `--shoot=${namespaceOf('two')}`);
    expect(await well.ended).toBe(0);
    expect(well.stdout()).toMatch(
      /^shoot--test--two \(garden-test\/two\): healthy\n {2}APIServerAvailable +True +Healthz/,
    );
    expect(well.stdout()).toMatch(/\n1 shoot: 1 healthy\n$/);
    const unknown = start(...once, '--shoot=nobody');
    expect(await unknown.ended).toBe(2);
    expect(unknown.output()).toMatch(/^cluster: .*\ndwd care: there is no shoot nobody in this seed, which has 4\n$/);
  });
});
