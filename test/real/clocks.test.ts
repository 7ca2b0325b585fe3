import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthority } from '../envtest/certificates.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { kubeconfigText } from '../envtest/kubeconfig.ts';
import {
  type Kubelets,
  createDependents,
  createNodes,
  createProtectedShoot,
  shootRules,
  startKubelets,
} from '../envtest/shoot.ts';
import { ShootProxy } from '../envtest/shoot-proxy.ts';
import { type InProcess, startInProcess } from './support/in-process.ts';

// A real kube-apiserver stamps the renewals of kubelets whose clocks are wrong. A second API server of the same etcd has another clock: a program of Go reads
// the kernel's clock, so a proxy gives answers the `Date` of that server instead.

const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 10s
initialDelay: 0s
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;

const clockShifts = { slow: -300_000, fast: 300_000, a: 0, b: 0, c: 0 };
const nodes = Object.keys(clockShifts);
/** By how much the clock of a shoot's second API server is wrong, and the share of requests that it answers. All kubelets renew at the first. */
const secondServers = {
  alone: { shiftMs: 0, share: 0 },
  ahead: { shiftMs: 60_000, share: 1 },
  behind: { shiftMs: -60_000, share: 1 },
  mixed: { shiftMs: 60_000, share: 0.5 },
};
type SecondServer = (typeof secondServers)[keyof typeof secondServers];
const namespaces = Object.keys(secondServers).map((name) => `shoot--clocks--${name}`);
const starts = 10;
/** Longer than a lease takes to expire, and the wait for those that rest on one clock. */
const watchedMs = 45_000;

describeEnvtest('wrong clocks', () => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-clocks-'));
  let seed: ControlPlane;
  let shoot: ControlPlane;
  let fronts: readonly ShootProxy[] = [];
  let kubelets: readonly Kubelets[] = [];
  const probers: InProcess[] = [];

  const createShoot = async (name: string, { shiftMs, share }: SecondServer, token: string): Promise<ShootProxy> => {
    const namespace = `shoot--clocks--${name}`;
    const authority = await createAuthority(`${name}-ca`);
    const front = await ShootProxy.start(shoot, await authority.issueServer(['127.0.0.1']));
    front.intercept(async (_, ask) => {
      const answer = await ask();
      const date = new Date(
        Date.parse(answer.headers.date ?? '') + (Math.random() < share ? shiftMs : 0),
      ).toUTCString();
      return { ...answer, headers: { ...answer.headers, date } };
    });
    const access = { server: front.url, caPem: authority.caPem, credentials: { token } };
    await createProtectedShoot(seed, { namespace, kubeconfig: kubeconfigText({ name, user: 'prober', ...access }) });
    await createDependents(seed.client, { namespace, nodes, counts: { 'kube-controller-manager': 1 } });
    return front;
  };

  /** Returns the shoots that a prober would have scaled down. */
  const heldBy = (prober: InProcess): readonly unknown[] => {
    const lines = prober.lines().filter(({ msg }) => msg === 'would have scaled down');
    return [...new Set(lines.map(({ namespace }) => namespace))].toSorted();
  };

  beforeAll(async () => {
    [seed, shoot] = await Promise.all([
      startControlPlane({ name: 'seed' }),
      startControlPlane({ name: 'shoot', kinds: [] }),
    ]);
    const account = { namespace: 'kube-system', name: 'prober', rules: shootRules, expirationSeconds: 3_600 };
    const { token } = await shoot.serviceAccountKubeconfig(account);
    kubelets = await Promise.all(
      Object.entries(clockShifts).map(async ([node, clockShiftMs], index) => {
        await sleep(2_000 * index);
        await createNodes(shoot.client, [node], clockShiftMs);
        return startKubelets(shoot.client, [node], { everyMs: 10_000, clockShiftMs });
      }),
    );
    fronts = await Promise.all(Object.entries(secondServers).map(([name, second]) => createShoot(name, second, token)));
    writeFileSync(join(directory, 'prober.yaml'), config);
  });
  afterAll(async () => {
    await Promise.all(probers.map((prober) => prober.stop()));
    await Promise.all(kubelets.map((kubelet) => kubelet.stop()));
    await Promise.all(fronts.map((front) => front.stop()));
    await Promise.all([seed.stop(), shoot.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  it('lead to no scale-down at ten starts of a prober, and hide no outage', { timeout: 300_000 }, async () => {
    for (let count = 0; count < starts; count += 1) {
      const files = [`--config-file=${join(directory, 'prober.yaml')}`, `--kubeconfig=${seed.admin.kubeconfig.file}`];
      probers.push(startInProcess(['prober', ...files, '--dry-run', '--metrics-bind-addr=0', '--health-bind-addr=0']));
      await sleep(1_700);
    }
    await sleep(watchedMs);
    expect(probers.map(heldBy)).toEqual(probers.map(() => []));

    for (const kubelet of kubelets) kubelet.cut();
    await expect
      .poll(() => probers.map(heldBy), { timeout: 90_000, interval: 500 })
      .toEqual(probers.map(() => namespaces.toSorted()));
  });
});
