import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { type Kubelets, createNodes, shootRules, startKubelets } from '../envtest/shoot.ts';
import { accessFaults } from './support/access-faults.ts';
import { auditInto } from './support/audit.ts';
import { nodeClockShiftMs, otherClockFaults, watchdogClockFaults } from './support/clock-faults.ts';
import {
  type FaultCase,
  createCase,
  endFaults,
  startFaults,
  listen,
  untilHealthy,
  untilProtected,
  untilRestored,
  untilSaidInOutage,
} from './support/fault-cases.ts';
import { createFaultyShoot, scalings } from './support/faulty-shoot.ts';
import type { WireFault } from './support/fault.ts';
import { seedFaults } from './support/seed-faults.ts';
import { answerFaults, probeTimeoutMs, silenceFaults } from './support/shoot-faults.ts';
import { type Watchdog, createWatchdog } from './support/watchdog.ts';

// Every fault has its own shoot, and all take the same steps at the same time: the fault starts and ends while the kubelets are healthy, and
// starts again together with an outage.
//
// The real API server refuses tokens and client certificates. A transparent proxy causes the faults that a real API server cannot produce on
// request: 429 and 5xx, broken bodies, slow and missing responses, other certificates without a restart, and a wrong clock in the `Date`
// header.

const sharedFaults = [...answerFaults, ...silenceFaults, ...accessFaults, ...otherClockFaults];
const ownFaults = [...seedFaults, ...watchdogClockFaults];
const faults: readonly WireFault[] = [...sharedFaults, ...ownFaults];

/** Expiry age of a lease: 0.75 of the grace period below. */
const limitMs = 9_000;
/** Longer than a lease takes to expire. */
const leaseSpanMs = limitMs + 3_000;
/** Long, for a busy machine. */
const stepTimeoutMs = 300_000;
const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 0s
probeTimeout: ${String(probeTimeoutMs / 1_000)}s
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

describeEnvtest('faults around the prober', () => {
  let directory: string;
  let seed: ControlPlane;
  let shoot: ControlPlane;
  let audit: ReturnType<typeof auditInto>;
  let controller: { stop(): Promise<void> } | undefined;
  let kubelets: readonly Kubelets[] = [];
  let watchdogs: readonly Watchdog[] = [];
  let cases: readonly FaultCase[] = [];

  beforeAll(async () => {
    // Each program adds a listener for the end of this process.
    process.setMaxListeners(faults.length);
    directory = mkdtempSync(join(tmpdir(), 'dwd-faults-'));
    audit = auditInto(directory);
    [seed, shoot] = await Promise.all([
      startControlPlane({ name: 'seed', apiServerFlags: audit.flags }),
      startControlPlane({ name: 'shoot', kinds: [] }),
    ]);
    kubelets = await Promise.all(
      Object.entries(nodeClockShiftMs).map(async ([group, clockShiftMs]) => {
        await createNodes(shoot.client, nodesOf(group), clockShiftMs);
        return startKubelets(shoot.client, nodesOf(group), { clockShiftMs });
      }),
    );
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    const account = { namespace: 'kube-system', name: 'prober', rules: shootRules, expirationSeconds: 3_600 };
    const { token } = await shoot.serviceAccountKubeconfig(account);
    const newWatchdog = (name: string) => createWatchdog({ name, seed, configFile, directory });
    const shared = await newWatchdog('shared');
    watchdogs = [shared, ...(await Promise.all(ownFaults.map(({ name }) => newWatchdog(name))))];
    cases = await Promise.all(
      faults.map(async (fault) => {
        const { name } = fault;
        const watchdog = watchdogs.find((own) => own.name === name) ?? shared;
        const nodes = nodesOf(fault.nodes ?? 'right');
        const faulty = await createFaultyShoot({ name, seed, shoot, watchdog, nodes, credentials: { token } });
        return createCase(fault, faulty);
      }),
    );
    controller = startDeploymentController(seed.client);
    await untilRestored(cases);
    await Promise.all(watchdogs.map((watchdog) => watchdog.start()));
  });

  afterAll(async () => {
    await Promise.all(watchdogs.map((watchdog) => watchdog.stop()));
    await Promise.all([controller?.stop(), ...kubelets.map((group) => group.stop())]);
    await Promise.all(cases.map(({ faulty }) => faulty.stop()));
    process.stderr.write(`${table()}\n`);
    await Promise.all([seed.stop(), shoot.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  const nodesOf = (group: string): readonly string[] => ['a', 'b', 'c'].map((name) => `${group}-${name}`);

  /** Returns the cases whose writes since the start are not exactly these, in this order. */
  const deviating = (
    some: readonly FaultCase[],
    writes: readonly string[],
  ): Readonly<Record<string, readonly string[]>> => {
    const all = scalings(audit.requests());
    const found = some.map(({ faulty }) => [faulty.name, all.get(faulty.namespace) ?? []] as const);
    return Object.fromEntries(found.filter(([, own]) => own.join() !== writes.join()));
  };

  const table = (): string => {
    const all = scalings(audit.requests());
    const rows = cases.map(({ faulty: { name, namespace }, said, recovered }) => {
      const writes = (all.get(namespace) ?? []).map((write) => write.replaceAll(/\B[a-z]+-?/g, '')).join(', ');
      return [name.padEnd(27), said.padEnd(42), writes.padEnd(30), [...recovered].join(', ')].join(' ');
    });
    return ['faults around the prober: how runs ended, scalings, recovered', ...rows].join('\n');
  };

  const blind = (): readonly FaultCase[] => cases.filter(({ fault }) => fault.blinds);
  const seeing = (): readonly FaultCase[] => cases.filter(({ fault }) => !fault.blinds);

  let isBroken = false;
  afterEach(({ task }) => {
    isBroken ||= task.result?.state === 'fail';
  });
  beforeEach(({ skip }) => skip(isBroken, 'what came before failed'));

  it('are absent at first', { timeout: stepTimeoutMs }, async () => {
    await untilHealthy(cases);
    expect(deviating(cases, [])).toEqual({});
  });

  it('are reported, and nothing is scaled while the kubelets are healthy', { timeout: stepTimeoutMs }, async () => {
    await startFaults(cases);
    await sleep(leaseSpanMs);
    await listen(cases);
    const unexpected = cases.filter(({ fault, said }) => (said === 'no runs') !== (fault.result === undefined));
    expect(unexpected.map(({ fault, said }) => [fault.name, said])).toEqual([]);
    expect(deviating(cases, [])).toEqual({});
  });

  it('have no effect after their end', { timeout: stepTimeoutMs }, async () => {
    await endFaults(cases);
    await untilHealthy(cases);
    expect(deviating(cases, [])).toEqual({});
  });

  it('do not hide a visible outage, and are not mistaken for one', { timeout: stepTimeoutMs }, async () => {
    await startFaults(cases);
    for (const group of kubelets) group.cut();
    await untilProtected(seeing());
    await untilSaidInOutage(cases);
    await sleep(leaseSpanMs);
    expect(deviating(seeing(), down)).toEqual({});
    expect(deviating(blind(), [])).toEqual({});
  });

  it('do not prevent protection after their end', { timeout: stepTimeoutMs }, async () => {
    await endFaults(blind());
    await untilProtected(blind());
    expect(deviating(cases, down)).toEqual({});
  });

  it('leave nothing behind when the outage is over', { timeout: stepTimeoutMs }, async () => {
    for (const group of kubelets) group.connect();
    await untilRestored(cases);
    expect(deviating(cases, [...down, ...up])).toEqual({});
  });
});
