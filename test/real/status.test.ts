import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusSchema } from '../../src/status/state/schema.ts';
import type { SeedStatus } from '../../src/status/index.ts';
import { servePortForward } from '../doubles/kubelet.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { waitFor } from '../envtest/waiting.ts';
import { kcm, mcm, quickConfig, shootNamespace } from './support/prober-world.ts';
import { hostname } from './support/pod-program.ts';
import { type PodNetwork, createProberPod, openPodNetwork } from './support/pod-network.ts';
import { operatorKubeconfig } from './support/operator.ts';
import { type Program, startProgram } from './support/program.ts';
import { type SeedWithShoot, startSeedWithShoot } from './support/seed-with-shoot.ts';

const podName = 'dwd-prober-7c9d8f6b5-x2x4q';
const nodeName = 'seed-node';

describeEnvtest('dwd status and dwd explain, with the rights of an operator, on a real API server', () => {
  let pods: PodNetwork;
  let world: SeedWithShoot;
  let operator = '';
  let prober: Program | undefined;
  let healthPort = 0;
  let pagePort = 0;
  let kubelet: Server | undefined;

  /** Starts a kubelet that forwards ports, and creates its node. */
  const startKubelet = async (): Promise<void> => {
    const { certificatePem: cert, keyPem: key } = await world.seed.authority.issueServer(['127.0.0.1']);
    kubelet = createServer({ cert, key });
    servePortForward(kubelet);
    await new Promise<void>((resolve) => kubelet?.listen(0, '127.0.0.1', resolve));
    await world.seed.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
    await world.seed.client.patch(`/api/v1/nodes/${nodeName}/status`, {
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: (kubelet.address() as AddressInfo).port } },
      },
    });
  };

  const startProber = async (): Promise<void> => {
    const flags = [
      `--page-bind-addr=127.0.0.1:${String(pagePort)}`,
      `--health-bind-addr=127.0.0.1:${String(healthPort)}`,
      ...['--kube-api-qps=50', '--kube-api-burst=100'],
    ];
    const env = { POD_NAME: podName, NODE_OPTIONS: `--import=${hostname}` };
    prober = await world.startProber(flags, { env });
  };

  beforeAll(async () => {
    pods = await openPodNetwork();
    world = await startSeedWithShoot('status', { apiServerFlags: pods.flags });
    [healthPort = 0, pagePort = 0] = await freePorts(2);
    await startKubelet();
    await startProber();
    operator = await operatorKubeconfig(world.seed, quickConfig());
    await createProberPod(world.seed.client, { name: podName, healthPort, nodeName });
  });

  afterAll(async () => {
    await world.stop();
    await pods.close();
    kubelet?.close();
    kubelet?.closeAllConnections();
  });

  const run = async (...args: readonly string[]) => {
    // A long timeout, so that a leader on a busy machine does not count as unreachable.
    const patience = '--leader-timeout=20s';
    const program = startProgram([...args, patience, `--kubeconfig=${operator}`]);
    const code = await program.ended;
    return { code, stdout: program.stdout(), output: program.output() };
  };
  const until = async (
    what: string,
    args: readonly string[],
    isSo: (ran: Awaited<ReturnType<typeof run>>) => boolean,
  ) => {
    let last = '';
    const detail = (): string => `${last}\n${prober?.output() ?? ''}`;
    return waitFor({ what, everyMs: 500, detail }, async () => {
      const ran = await run(...args);
      last = ran.output;
      return isSo(ran) && ran;
    });
  };

  /** Its leases last 40 s, so an outage shows too late for the short grace period of this test. */
  const whyUnprotected =
    /NOT PROTECTED +\S+ +an outage shows after 13s at the earliest, and KCM gives up a node after 8s, which/;

  it('shows by the leader that nothing is held, and that the grace period is too short', async () => {
    const { stdout, code } = await until('a verdict', ['status'], (ran) => whyUnprotected.test(ran.stdout));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^seed of context .* {3}1 of 1 shoot is not protected\n/);
    expect(stdout).toMatch(new RegExp(`\nleader ${podName} for .*last round .* ago\n`));
  });

  it('opens the page of the leader, which listens to its own pod alone', async () => {
    const page = startProgram(['page', `--page-port=${String(pagePort)}`, `--kubeconfig=${operator}`]);
    const detail = (): string => page.output();
    const address = /^(\S+) shows the page of the leader, dwd-prober-7c9d8f6b5-x2x4q \(no standby\)/;
    await waitFor({ what: 'an address', detail }, async () => address.test(page.stdout()));
    const [, url = ''] = address.exec(page.stdout()) ?? [];
    expect(await (await fetch(url)).text()).toContain('<title>');
    page.signal('SIGINT');
    expect(await page.ended).toBe(0);
    const none = startProgram(['page', '--page-port=1', `--kubeconfig=${operator}`]);
    expect(await none.ended).toBe(1);
    expect(none.output()).toMatch(/does not show its page: .*\n.*--page-bind-addr/);
  });

  it('reads the status through a port that it forwards, where the proxy is forbidden', async () => {
    const role = '/apis/rbac.authorization.k8s.io/v1/namespaces/garden/roles/dwd-operator';
    const { rules } = await world.seed.client.get<{ rules: { resources: string[] }[] }>(role);
    const without = rules.map((rule) => ({ ...rule, resources: rule.resources.filter((one) => one !== 'pods/proxy') }));
    await world.seed.client.patch(role, { rules: without });
    const { stdout } = await until('a verdict', ['status'], (ran) => whyUnprotected.test(ran.stdout));
    expect(stdout).toMatch(new RegExp(`\nleader ${podName} for .*last round .* ago\n`));
    await world.seed.client.patch(role, { rules });
  });

  describe('in an outage', () => {
    beforeAll(async () => {
      world.kubelets.cut();
      await world.untilHeld();
    });

    it('shows where protection is active, since when, and the next steps', async () => {
      const { code, stdout } = await until('HELD', ['status'], (ran) => ran.stdout.includes('HELD'));
      expect(code).toBe(1);
      expect(stdout).toMatch(/^seed .* {3}1 of 1 shoot is held since \d\d:\d\d/);
      expect(stdout).toMatch(
        /\ntest\/one +HELD +\d+s +3\/3 (?:expired|silent for \d+s); held: kube-controller-manager, machine-/,
      );
      expect(stdout).toContain('restored when its nodes renew');
    });

    it('serves no secret', async () => {
      const answer = await fetch(`http://127.0.0.1:${String(healthPort)}/status?shoot=${shootNamespace}`);
      const text = await answer.text();
      expect(statusSchema.parse(JSON.parse(text)).shoots).toHaveLength(1);
      expect(text).not.toMatch(/certificate|BEGIN|token|kubeconfig/i);
    });

    it('is shown from the objects alone while the leader does not respond, and while no prober runs', async () => {
      prober?.signal('SIGKILL');
      await prober?.ended;
      const silent = await run('status');
      expect(silent.code).toBe(1);
      expect(silent.stdout).toMatch(/\nleader \S+ for \S+(?:, but it did not respond| no longer renews its Lease)/);
      expect(silent.stdout).toMatch(
        /\ntest\/one +HELD +\S+ +.*; held: kube-controller-manager, machine-controller-manager/,
      );
      await world.seed.client.delete(
        '/apis/coordination.k8s.io/v1/namespaces/garden/leases/dwd-prober-leader-election',
      );
      await world.seed.client.delete(`/api/v1/namespaces/garden/pods/${podName}?gracePeriodSeconds=0`);
      const alone = await run('status', '-o', 'json');
      expect(alone.code).toBe(1);
      const status = JSON.parse(alone.stdout) as SeedStatus;
      expect(status).toMatchObject({ source: 'objects', lease: { holder: '' }, total: 1 });
      const [shoot] = status.shoots;
      expect(shoot?.state).toBe('held');
      expect(shoot?.reason).toMatch(/leases expired|has renewed/);
      expect(shoot?.held.map(({ name, replicas }) => [name, replicas])).toEqual([
        [kcm, 2],
        [mcm, 3],
      ]);
      expect(shoot?.held.every(({ since = '' }) => since.endsWith('Z'))).toBe(true);
      const { stdout } = await run('explain', 'test/one');
      expect(stdout).toContain('no prober responded');
      expect(stdout).not.toMatch(/Not probed yet|\b0s\b/);
    });
  });
});
