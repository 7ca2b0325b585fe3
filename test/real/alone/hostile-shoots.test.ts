import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../envtest/control-plane.ts';
import { describeEnvtest } from '../../envtest/gate.ts';
import { kubeconfigText } from '../../envtest/kubeconfig.ts';
import { freePorts } from '../../envtest/processes.ts';
import { type Served, startServed } from '../../envtest/served.ts';
import { createProtectedShoot, seedRules } from '../../envtest/shoot.ts';
import { waitFor } from '../../envtest/waiting.ts';
import type { HostileShoots } from '../support/hostile-shoots.ts';
import { type ProberBehindProxy, proberBehindProxy } from '../support/prober-behind-proxy.ts';

// Two programs on one seed, at the same time, on the same machine. Each has twenty healthy shoots, and one also has hostile shoots: the difference
// between the two is the cost of the hostile ones.

const wells = Array.from({ length: 20 }, (_, index) => `well-${String(index)}`);
/** Number of probes of each well shoot of the spared program that are compared. */
const windowProbes = 10;
const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 5s
initialDelay: 0s
probeTimeout: 10s
backoffJitterFactor: 0.1
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    optional: true
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;
/** Memory limit of the Deployment of the chart. */
const memoryLimitMb = 512;

const peakMb = (pid: number): number => {
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
};

const versionsOf = (counts: Readonly<Record<string, number>>, who: string): readonly number[] =>
  wells.map((name) => counts[`${who}-${name}/version`] ?? 0);

/** Returns the results of all runs of a shoot since the start. */
const resultsOf = (metrics: string, namespace: string): Readonly<Record<string, number>> => {
  const sample = new RegExp(`^dwd_prober_runs_total\\{namespace="${namespace}",result="(\\w+)"\\} (\\d+)$`, 'gm');
  return Object.fromEntries(Array.from(metrics.matchAll(sample), ([, result = '', count]) => [result, Number(count)]));
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

describeEnvtest('a prober with hostile shoots', () => {
  let directory: string;
  let seed: ControlPlane;
  let good: Served<HostileShoots>;
  let evil: Served<HostileShoots>;
  const probers: ProberBehindProxy[] = [];
  let metricsPort = 0;
  let hostilities: readonly string[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-hostile-'));
    seed = await startControlPlane({ name: 'seed' });
    const script = new URL('../support/hostile-shoots.ts', import.meta.url);
    good = startServed<HostileShoots>(script);
    evil = startServed<HostileShoots>(script);
    const [goodAt, evilAt] = [await good.ready(), await evil.ready()];
    ({ hostilities } = evilAt);
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    [metricsPort = 0] = await freePorts(1);
    for (const who of ['troubled', 'spared']) {
      // Each sees only its own Clusters.
      const labels = { 'test-prober': who };
      const onlyClusters = { labelSelector: `test-prober=${who}` };
      const flags = who === 'troubled' ? [`--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`] : [];
      const given = { seed, configFile, directory, user: `dwd-${who}`, rules: seedRules, onlyClusters, flags };
      probers.push(await proberBehindProxy(given));
      const shoots = [
        ...wells.map((name) => ({ name: `${who}-${name}`, path: `${who}-${name}`, at: goodAt })),
        ...(who === 'spared' ? [] : hostilities.map((name) => ({ name: `${who}-${name}`, path: name, at: evilAt }))),
      ];
      for (const { name, path, at } of shoots) {
        const server = `${at.url}/${path}`;
        const kubeconfig = kubeconfigText({ name, server, caPem: at.ca, user: 'dwd', credentials: { token: 'token' } });
        await createProtectedShoot(seed, { namespace: name, kubeconfig, labels });
      }
    }
  });

  afterAll(async () => {
    for (const prober of probers) await prober.stop();
    await good.end();
    await evil.end();
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('rule 11a: probes the others as often as before, within its memory limit, and writes nothing', async () => {
    const [troubled, spared] = probers.map((prober) => prober.start().pid) as [number, number];
    const probes = async (who: string) => versionsOf(await good.order('counts'), who);
    await waitFor({ what: 'the first probes of all shoots' }, async () =>
      [...(await probes('spared')), ...(await probes('troubled'))].every((count) => count > 0),
    );
    const before = { troubled: await probes('troubled'), spared: await probes('spared') };
    await waitFor({ what: 'probes', everyMs: 1_000 }, async () =>
      (await probes('spared')).every((count, index) => count >= (before.spared[index] ?? 0) + windowProbes),
    );
    const after = { troubled: await probes('troubled'), spared: await probes('spared') };
    const during = (who: 'troubled' | 'spared') => after[who].map((count, index) => count - (before[who][index] ?? 0));
    // On a machine too busy for it a server ends a request, and Prometheus asks again.
    const metrics = await waitFor({ what: 'metrics' }, async () => {
      const answer = await fetch(`http://127.0.0.1:${String(metricsPort)}/metrics`).catch(() => undefined);
      return answer?.text().catch(() => undefined);
    });
    const results = (shoot: string) => resultsOf(metrics, `troubled-${shoot}`);
    const counts = await evil.order('counts');
    const figures = {
      probes: { troubled: sum(during('troubled')), spared: sum(during('spared')) },
      least: { troubled: Math.min(...during('troubled')), spared: Math.min(...during('spared')) },
      peakMb: { troubled: Math.round(peakMb(troubled)), spared: Math.round(peakMb(spared)) },
      hostile: Object.fromEntries(hostilities.map((name) => [name, results(name)])),
      asked: counts,
    };
    process.stdout.write(`hostile shoots: ${JSON.stringify(figures)}\n`);
    expect(figures.probes.spared / figures.probes.troubled).toBeLessThan(1.2);
    // The tolerance is 2, because for one shoot, a probe at each end may fall out of the window.
    expect(figures.least.troubled).toBeGreaterThanOrEqual(figures.least.spared / 1.2 - 2);
    expect(figures.peakMb.troubled).toBeLessThan(memoryLimitMb);
    for (const name of hostilities) {
      // All were probed, and none was judged healthy or unhealthy.
      expect(counts[`${name}/version`]).toBeGreaterThan(0);
      expect(results(name)).not.toHaveProperty('healthy');
      expect(results(name)).not.toHaveProperty('unhealthy');
    }
    for (const name of wells) expect(Object.keys(results(name))).toEqual(['healthy']);
    for (const prober of probers) expect(prober.proxy.writes).toEqual([]);
  });
});
