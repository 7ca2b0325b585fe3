import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { type Kubelets, createNodes, shootRules, startKubelets } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { auditInto } from './support/audit.ts';
import { type FaultyShoot, createFaultyShoot, scalings } from './support/faulty-shoot.ts';
import { faults } from './support/faults.ts';
import { type Watchdog, createWatchdog } from './support/watchdog.ts';

// Every fault has a shoot of its own, and all take the same steps at the same time. One more shoot has none. A real API server refuses the credentials, and stamps
// the leases of kubelets whose clocks are wrong; certificates and connections are those of a proxy before it.

const clockShiftsMs = { right: 0, fast: 600_000, slow: -600_000 };
const nodes = Object.keys(clockShiftsMs);
/** Longer than a lease takes to expire, which is 0.75 of the grace period below. */
const leaseSpanMs = 12_000;
/** Only a hang exceeds it. */
const patienceMs = 180_000;
const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 0s
probeTimeout: 4s
backoffJitterFactor: 0.2
kcmNodeMonitorGraceDuration: 12s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0, timeout: 30s}
    scaleDown: {level: 1, timeout: 30s}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: machine-controller-manager}
    scaleUp: {level: 1, timeout: 30s}
    scaleDown: {level: 0, timeout: 30s}
`;
const down = ['machine-controller-manager 0', 'kube-controller-manager 0'];
const up = ['kube-controller-manager 2', 'machine-controller-manager 3'];

describeEnvtest('faults between a prober and the API servers of shoots', () => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-faults-'));
  const audit = auditInto(directory);
  let seed: ControlPlane;
  let shoot: ControlPlane;
  let kubelets: readonly Kubelets[] = [];
  let controller: { stop(): Promise<void> };
  let watchdog: Watchdog;
  let healthy: FaultyShoot;
  let faulty: readonly FaultyShoot[] = [];

  beforeAll(async () => {
    [seed, shoot] = await Promise.all([
      startControlPlane({ name: 'seed', apiServerFlags: audit.flags }),
      startControlPlane({ name: 'shoot', kinds: [] }),
    ]);
    kubelets = await Promise.all(
      Object.entries(clockShiftsMs).map(async ([node, clockShiftMs]) => {
        await createNodes(shoot.client, [node], clockShiftMs);
        return startKubelets(shoot.client, [node], { clockShiftMs });
      }),
    );
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    watchdog = await createWatchdog({ name: 'prober', seed, configFile, directory });
    const createShoot = async (name: string): Promise<FaultyShoot> => {
      const account = { namespace: 'kube-system', name, rules: shootRules, expirationSeconds: 3_600 };
      const { token } = await shoot.serviceAccountKubeconfig(account);
      return createFaultyShoot({ name, seed, shoot, watchdog, nodes, credentials: { token } });
    };
    healthy = await createShoot('none');
    faulty = await Promise.all(faults.map(({ name }) => createShoot(name)));
    controller = startDeploymentController(seed.client);
  }, patienceMs);

  afterAll(async () => {
    await watchdog.stop();
    await Promise.all([controller.stop(), ...kubelets.map((kubelet) => kubelet.stop())]);
    await Promise.all([healthy, ...faulty].map((one) => one.stop()));
    await Promise.all([seed.stop(), shoot.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  const logOf = ({ namespace }: FaultyShoot): readonly string[] =>
    watchdog
      .program()
      .output()
      .split('\n')
      .filter((line) => line.includes(`"namespace":"${namespace}"`));
  const each = async (
    shoots: readonly FaultyShoot[],
    what: string,
    isSo: (one: FaultyShoot, index: number) => Promise<boolean>,
  ): Promise<void> => {
    const waits = shoots.map((one, index) => {
      const detail = (): string => logOf(one).slice(-12).join('\n');
      return waitFor({ what: `${one.name}: ${what}`, withinMs: patienceMs, everyMs: 500, detail }, () =>
        isSo(one, index),
      );
    });
    await Promise.all(waits);
  };
  const hasRun = async ({ namespace }: FaultyShoot, result: string): Promise<boolean> =>
    ((await watchdog.results(namespace)).get(result) ?? 0) >= 2;
  /** Returns the writes of the watchdog, by shoot. */
  const written = (): Readonly<Record<string, readonly string[]>> => Object.fromEntries(scalings(audit.requests()));

  it('are told, are not mistaken for an outage, and hide none after their end', {
    timeout: 4 * patienceMs,
  }, async () => {
    const all = [healthy, ...faulty];
    await each(all, 'up', (one) => one.isUp());
    await watchdog.start();
    await each(all, 'healthy', (one) => hasRun(one, 'healthy'));

    const ends = await Promise.all(faults.map(({ start }, index) => start(faulty[index]!)));
    await each(faulty, 'the fault is told', async (one, index) => {
      const { result, says } = faults[index]!;
      return (await hasRun(one, result)) && logOf(one).some((line) => says.test(line));
    });
    await sleep(leaseSpanMs);
    expect(written()).toEqual({});

    for (const kubelet of kubelets) kubelet.cut();
    await each([healthy], 'held', (one) => one.isDown());
    await sleep(leaseSpanMs);
    expect(written()).toEqual({ [healthy.namespace]: down });

    await Promise.all(ends.map(async (end) => end()));
    await each(faulty, 'held', (one) => one.isDown());
    for (const kubelet of kubelets) kubelet.connect();
    await each(all, 'restored', (one) => one.isUp());
    expect(written()).toEqual(Object.fromEntries(all.map(({ namespace }) => [namespace, [...down, ...up]])));
  });
});
