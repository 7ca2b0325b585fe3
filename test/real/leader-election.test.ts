import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { createKubeClient } from '../../src/kubernetes/client/client.ts';
import { type LeadershipEnd, LeaderElector } from '../../src/kubernetes/leaderelection/leader-elector.ts';
import { systemClock } from '../../src/process/clock.ts';
import { systemRandom } from '../../src/process/random.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startControllerManager } from '../envtest/controller-manager.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type LeaseConnection, connectTo, shortTimes } from './support/electing-process.ts';

const namespace = 'garden';
const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const program = fileURLToPath(new URL('./support/electing-process.ts', import.meta.url));

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
}

interface Candidate {
  readonly elector: LeaderElector;
  readonly ended: Promise<LeadershipEnd>;
  /** Stops it as SIGTERM does. */
  stop(): void;
  /** Drops all its traffic from now on. */
  cutOff(): void;
}

describeEnvtest('leader election on a real API server', () => {
  let plane: ControlPlane;
  let name: string;
  let file: string;
  let connection: LeaseConnection;
  let count = 0;
  let cleanUps: (() => unknown)[] = [];

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'election', kinds: [] });
  });

  afterAll(() => plane.stop());

  afterEach(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
    cleanUps = [];
  });

  /** Creates a kubeconfig for a new Lease, with exactly the rights of rule 29 to it. */
  const arrange = async (): Promise<void> => {
    count += 1;
    name = `dwd-test-${String(count)}-leader-election`;
    const leaseRule = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespace };
    const kubeconfig = await plane.serviceAccountKubeconfig({
      namespace,
      name: `elector-${String(count)}`,
      rules: [
        { ...leaseRule, verbs: ['create'] },
        { ...leaseRule, verbs: ['get', 'watch', 'update'], resourceNames: [name] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'], resourceNames: [name], namespace },
      ],
    });
    ({ file } = kubeconfig);
    connection = connectTo(kubeconfig.text);
    cleanUps.push(() => connection.close());
  };

  const spec = async (): Promise<LeaseSpec> => (await plane.client.get<{ spec: LeaseSpec }>(`${leases}/${name}`)).spec;

  const until = (what: string, holds: () => boolean | Promise<boolean>): Promise<true> =>
    waitFor({ what, withinMs: 20_000, everyMs: 20 }, holds);

  const start = (identity: string): Candidate => {
    const clock = systemClock();
    const stop = new AbortController();
    let isCut = false;
    const kube: Kube = {
      request: async (request) => {
        if (isCut) await clock.sleep(3_600_000, request.signal);
        return connection.kube.request(request);
      },
    };
    const elector = new LeaderElector({
      client: createKubeClient({ kube, clock }),
      clock,
      random: systemRandom(),
      logger: createRecordingLogger(),
      lease: { namespace, name },
      identity,
      ...shortTimes,
    });
    const ended = elector.run(stop.signal);
    const end = (): void => stop.abort(new Error('stop'));
    cleanUps.push(async () => {
      end();
      await ended;
    });
    return {
      elector,
      ended,
      stop: end,
      cutOff: () => {
        isCut = true;
      },
    };
  };

  it('rule 29: creates, renews and releases with no more rights than it needs, and hands over', async () => {
    await arrange();
    const a = start('a');
    await until('a leads', () => a.elector.mayWrite());
    const created = await spec();
    expect(created).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 3, leaseTransitions: 0 });
    const b = start('b');
    await until('a renews', async () => (await spec()).renewTime !== created.renewTime);
    expect(await spec()).toMatchObject({ holderIdentity: 'a', acquireTime: created.acquireTime, leaseTransitions: 0 });
    expect(b.elector.mayWrite()).toBe(false);
    a.stop();
    expect(await a.ended).toBe('stopped');
    const released = await spec();
    if (released.holderIdentity !== 'b') {
      expect(released).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    }
    await until('b leads', () => b.elector.mayWrite());
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 3, leaseTransitions: 1 });
  });

  it('rule 25: takes over from a silent leader, which stops first', async () => {
    await arrange();
    const a = start('a');
    await until('a leads', () => a.elector.mayWrite());
    const b = start('b');
    a.cutOff();
    let overlapped = false;
    await until('b leads', () => {
      overlapped ||= a.elector.mayWrite() && b.elector.mayWrite();
      return b.elector.mayWrite();
    });
    expect(overlapped).toBe(false);
    expect(await a.ended).toBe('lost');
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('rule 26: keeps leading when others change or delete the Lease', async () => {
    await arrange();
    const a = start('a');
    await until('a leads', () => a.elector.mayWrite());
    await plane.client.patch(`${leases}/${name}`, { metadata: { labels: { touched: 'yes' } } });
    const touched = await spec();
    await until('a renews', async () => (await spec()).renewTime !== touched.renewTime);
    expect(await plane.client.get(`${leases}/${name}`)).toMatchObject({ metadata: { labels: { touched: 'yes' } } });
    await plane.client.delete(`${leases}/${name}`);
    await until('there is a Lease again', async () => {
      const reply = await plane.client.request({ method: 'GET', path: `${leases}/${name}` });
      return reply.status === 200;
    });
    await until('a leads', () => a.elector.mayWrite());
    expect(await spec()).toMatchObject({ holderIdentity: 'a' });
  });

  it('rule 26: stops leading while the API server hangs, and a leader is elected afterwards', async () => {
    await arrange();
    const a = start('a');
    await until('a leads', () => a.elector.mayWrite());
    await plane.pauseApiServer();
    try {
      expect(await a.ended).toBe('lost');
    } finally {
      plane.resumeApiServer();
    }
    const b = start('b');
    await until('b leads', () => b.elector.mayWrite());
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('rule 25: hands over to a Go program and takes over from it', async () => {
    await arrange();
    const a = start('a');
    await until('a leads', () => a.elector.mayWrite());
    const go = await startControllerManager(plane, {
      flags: {
        'leader-elect': 'true',
        'leader-elect-resource-name': name,
        'leader-elect-resource-namespace': namespace,
        'leader-elect-lease-duration': '3s',
        'leader-elect-renew-deadline': '2s',
        'leader-elect-retry-period': '400ms',
      },
    });
    cleanUps.push(() => go.stop());
    await plane.client.patch(`${leases}/${name}`, { metadata: { labels: { waits: 'kcm' } } });
    expect(await spec()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
    a.stop();
    expect(await a.ended).toBe('stopped');
    await until('the Go program leads', async () => ((await spec()).holderIdentity ?? '').length > 1);
    expect(await spec()).toMatchObject({ leaseTransitions: 1 });
    const b = start('b');
    const seen = await spec();
    await until('the Go program renews', async () => (await spec()).renewTime !== seen.renewTime);
    expect(b.elector.mayWrite()).toBe(false);
    await go.stop({ signal: 'SIGKILL' });
    await until('b leads', () => b.elector.mayWrite());
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 2 });
  });

  it('rule 28: a process that was suspended for longer than the Lease lasts writes nothing when it continues', async () => {
    await arrange();
    const configMap = `/api/v1/namespaces/${namespace}/configmaps`;
    await plane.client.create(configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    const counts = async (): Promise<Readonly<Record<string, string>>> =>
      (await plane.client.get<{ data?: Record<string, string> }>(`${configMap}/${name}`)).data ?? {};
    const spawnOne = (
      identity: string,
    ): { readonly child: ChildProcess; readonly ended: Promise<unknown>; output(): string } => {
      const child = spawn(process.execPath, [program, file, namespace, name, identity], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const ended = new Promise((resolve) => void child.once('close', resolve));
      cleanUps.push(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      return { child, ended, output: () => output };
    };
    const first = spawnOne('first');
    await until('the first writes', async () => Number((await counts()).first) > 10);
    const second = spawnOne('second');
    first.child.kill('SIGUSR2');
    await until('the second writes', async () => Number((await counts()).second) > 10);
    const before = (await counts()).first;
    first.child.kill('SIGCONT');
    await first.ended;
    expect(first.output()).toBe('leading\nlost\n');
    expect((await counts()).first).toBe(before);
    second.child.kill('SIGTERM');
    await second.ended;
    expect(second.output()).toBe('leading\nstopped\n');
    expect(await spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  });
});
