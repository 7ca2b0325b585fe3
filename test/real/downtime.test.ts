import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { type Kubelets, createNodes, shootRules, startKubelets } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { accessFaults } from './support/access-faults.ts';
import { auditInto } from './support/audit.ts';
import { type FaultyShoot, createFaultyShoot, scalings } from './support/faulty-shoot.ts';
import type { WireFault } from './support/fault.ts';
import { silenceFaults } from './support/shoot-faults.ts';
import { type Watchdog, createWatchdog } from './support/watchdog.ts';

// Real API servers with an outage at the same time: one is down, one is out of reach only for the watchdog, one fails requests or responds late.

const nodes = ['a', 'b', 'c'];
const stepTimeoutMs = 300_000;
const patienceMs = 120_000;
/** Longer than 15 s, the shortest failure that excuses silence, and than the expiry age of a lease. */
const cutOffMs = 25_000;

const configOf = (grace: string, interval: string): string => `
kubeConfigSecretName: shoot-access-prober
probeInterval: ${interval}
initialDelay: 0s
probeTimeout: 30s
backoffJitterFactor: 0.2
kcmNodeMonitorGraceDuration: ${grace}
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0, timeout: 30s}
    scaleDown: {level: 1, timeout: 30s}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: machine-controller-manager}
    scaleUp: {level: 1, timeout: 30s}
    scaleDown: {level: 0, timeout: 30s}
`;

const named = (name: string): WireFault => {
  const found = [...accessFaults, ...silenceFaults].find((fault) => fault.name === name);
  if (found === undefined) throw new Error(`no fault ${name}`);
  return found;
};

const wrongPort: WireFault = {
  name: 'refused',
  result: 'api_server_unreachable',
  blinds: true,
  start: async (shoot) => {
    const [port = 0] = await freePorts(1);
    await shoot.updateSecret({ server: `https://127.0.0.1:${String(port)}` });
    return () => shoot.updateSecret({});
  },
};

/** Faults that cut off only the watchdog from a running API server. */
const ours: readonly WireFault[] = [
  wrongPort,
  named('packets-dropped'),
  named('silent-accepted'),
  named('host-unknown'),
  named('token-expired'),
];

const isHeld = (shoot: FaultyShoot, what: string): Promise<unknown> =>
  waitFor({ what: `${shoot.name} is held ${what}`, withinMs: patienceMs, everyMs: 200 }, () => shoot.isDown());

describeEnvtest('an API server out of reach', () => {
  let directory: string;
  let seed: ControlPlane;
  /** API server of all shoots except two. */
  let shared: ControlPlane;
  /** API server that is stopped, and whose etcd is paused. */
  let own: ControlPlane;
  let audit: ReturnType<typeof auditInto>;
  let kubelets: { readonly shared: Kubelets; readonly own: Kubelets };
  let controller: { stop(): Promise<void> } | undefined;
  let watchdogs: { readonly quick: Watchdog; readonly plain: Watchdog };
  const shoots = new Map<string, FaultyShoot>();
  const reported: string[] = [];

  const shootOf = (name: string): FaultyShoot => {
    const shoot = shoots.get(name);
    if (shoot === undefined) throw new Error(`no shoot ${name}`);
    return shoot;
  };
  const linesOf = ({ watchdog, namespace }: FaultyShoot): readonly string[] =>
    watchdog
      .program()
      .output()
      .split('\n')
      .filter((line) => line.includes(`"namespace":"${namespace}"`));
  const downtimesOf = (shoot: FaultyShoot): readonly string[] =>
    linesOf(shoot).filter((line) => line.includes('the API server failed until now'));
  const writesOf = ({ namespace }: FaultyShoot): readonly string[] => scalings(audit.requests()).get(namespace) ?? [];
  const healthy = (shoot: FaultyShoot): Promise<unknown> =>
    waitFor({ what: `${shoot.name} is healthy`, withinMs: patienceMs, everyMs: 500 }, async () => {
      const runs = (await shoot.watchdog.results(shoot.namespace)).get('healthy') ?? 0;
      return runs >= 2;
    });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-downtime-'));
    audit = auditInto(directory);
    [seed, shared, own] = await Promise.all([
      startControlPlane({ name: 'seed', apiServerFlags: audit.flags }),
      startControlPlane({ name: 'shared', kinds: [] }),
      startControlPlane({ name: 'own', kinds: [] }),
    ]);
    const startNodes = async (shoot: ControlPlane): Promise<Kubelets> => {
      await createNodes(shoot.client, nodes);
      return startKubelets(shoot.client, nodes);
    };
    kubelets = { shared: await startNodes(shared), own: await startNodes(own) };
    const newWatchdog = (name: string, config: string): Promise<Watchdog> => {
      const configFile = join(directory, `${name}.yaml`);
      writeFileSync(configFile, config);
      return createWatchdog({ name, seed, configFile, directory });
    };
    watchdogs = {
      quick: await newWatchdog('quick', configOf('20s', '2s')),
      plain: await newWatchdog('plain', configOf('40s', '10s')),
    };
    const addShoot = async (name: string, shoot: ControlPlane, watchdog: Watchdog): Promise<void> => {
      const account = { namespace: 'kube-system', name: `prober-${name}`, rules: shootRules, expirationSeconds: 3_600 };
      const { token } = await shoot.serviceAccountKubeconfig(account);
      shoots.set(name, await createFaultyShoot({ name, seed, shoot, watchdog, nodes, credentials: { token } }));
    };
    for (const { name } of ours) await addShoot(name, shared, watchdogs.quick);
    await addShoot('down', own, watchdogs.quick);
    await addShoot('etcd-paused', own, watchdogs.plain);
    for (const name of ['bad-answers', 'late-answers']) await addShoot(name, shared, watchdogs.plain);
    controller = startDeploymentController(seed.client);
    await waitFor({ what: 'all are up', withinMs: patienceMs }, async () => {
      const up = await Promise.all([...shoots.values()].map((shoot) => shoot.isUp()));
      return up.every(Boolean);
    });
    await Promise.all([watchdogs.quick.start(), watchdogs.plain.start()]);
    await Promise.all([...shoots.values()].map(healthy));
  }, stepTimeoutMs);

  afterAll(async () => {
    process.stderr.write(`${reported.join('\n')}\n`);
    await Promise.all([watchdogs.quick.stop(), watchdogs.plain.stop()]);
    await Promise.all([controller?.stop(), kubelets.shared.stop(), kubelets.own.stop()]);
    await Promise.all([...shoots.values()].map((shoot) => shoot.stop()));
    await Promise.all([seed.stop(), shared.stop(), own.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  describe('whose etcd has delayed a response', () => {
    it('is not reported to have another clock', { timeout: stepTimeoutMs }, async () => {
      const shoot = shootOf('etcd-paused');
      const before = (await shoot.watchdog.results(shoot.namespace)).get('healthy') ?? 0;
      await own.pauseEtcd();
      await sleep(14_000);
      own.resumeEtcd();
      await waitFor({ what: 'a list after the pause', withinMs: patienceMs, everyMs: 500 }, async () => {
        const runs = (await shoot.watchdog.results(shoot.namespace)).get('healthy') ?? 0;
        return runs >= before + 2;
      });
      expect(linesOf(shoot).filter((line) => line.includes('clock and ours differ'))).toEqual([]);
    });
  });

  describe('that is down, and starts again before its kubelets', () => {
    it('is no outage', { timeout: stepTimeoutMs }, async () => {
      const shoot = shootOf('down');
      kubelets.own.cut();
      await own.stopApiServer();
      await sleep(cutOffMs);
      await own.startApiServer();
      // Not longer than a real kubelet waits between two attempts, 7 s.
      await sleep(5_000);
      kubelets.own.connect();
      await healthy(shoot);
      await sleep(10_000);
      expect(writesOf(shoot)).toEqual([]);
    });
  });

  describe('for the watchdog alone, in an outage', () => {
    it('does not excuse silence', { timeout: stepTimeoutMs }, async () => {
      const heals = await Promise.all(ours.map(async (fault) => fault.start(shootOf(fault.name))));
      kubelets.shared.cut();
      for (const name of ['bad-answers', 'late-answers']) {
        inflictAnswers(shootOf(name), name === 'late-answers' ? 9_000 : 0);
      }
      await sleep(cutOffMs);
      const healed = ours.map(async ({ name }, index) => {
        await heals[index]!();
        const from = performance.now();
        await isHeld(shootOf(name), 'after the fault');
        reported.push(
          `${name}: held ${((performance.now() - from) / 1_000).toFixed(1)} s after the watchdog was no longer cut off`,
        );
      });
      const cutAt = performance.now() - cutOffMs;
      const answering = ['bad-answers', 'late-answers'].map(async (name) => {
        await isHeld(shootOf(name), 'in the outage');
        reported.push(
          `${name}: held ${((performance.now() - cutAt) / 1_000).toFixed(1)} s after the kubelets were cut off`,
        );
      });
      await Promise.all([...healed, ...answering]);
      expect(ours.map(({ name }) => [name, downtimesOf(shootOf(name))])).toEqual(ours.map(({ name }) => [name, []]));
    });
  });
});

/** Fails 40 % of all requests with 500, or, with `ms`, delays each response by that time. */
const inflictAnswers = ({ front }: FaultyShoot, ms: number): void => {
  let count = 0;
  front.intercept(async (_, ask) => {
    count += 1;
    if (ms === 0 && (count * 2) % 5 < 2) {
      return { status: 500, headers: { 'content-type': 'text/plain' }, body: Buffer.from('no') };
    }
    const whole = await ask();
    await sleep(ms);
    return whole;
  });
};
