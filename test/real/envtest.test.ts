import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { judgeKind } from '../../src/config/rules/known-kinds.ts';
import { kubernetesVersion } from '../envtest/binaries.ts';
import type { ApiReply } from '../envtest/client.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startControllerManager } from '../envtest/controller-manager.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { clientFromKubeconfig } from '../envtest/kubeconfig.ts';
import { waitFor } from '../envtest/waiting.ts';

const minute = 60_000;
const machines = '/apis/machine.sapcloud.io/v1alpha1/namespaces/shoot--a/machines';
const mills = '/apis/test.dependency-watchdog.gardener.cloud/v1/namespaces/default/watermills';

describeEnvtest('a real control plane', () => {
  let seed: ControlPlane;
  let shoot: ControlPlane;

  beforeAll(async () => {
    [seed, shoot] = await Promise.all([
      startControlPlane({ name: 'seed' }),
      startControlPlane({ name: 'shoot', kinds: [] }),
    ]);
    process.stdout.write(`control planes up in ${String(seed.startedInMs)} and ${String(shoot.startedInMs)} ms\n`);
  }, 2 * minute);

  afterAll(async () => {
    await Promise.all([seed.stop(), shoot.stop()]);
  }, minute);

  it('runs beside another one', async () => {
    await seed.client.create('/api/v1/namespaces', namespaceObject('only-here'));
    expect(await statusOf(seed.client.request({ method: 'GET', path: '/api/v1/namespaces/only-here' }))).toBe(200);
    expect(await statusOf(shoot.client.request({ method: 'GET', path: '/api/v1/namespaces/only-here' }))).toBe(404);
    expect(seed.port).not.toBe(shoot.port);
  });

  it('serves custom kinds with status and scale', async () => {
    const mill = { apiVersion: 'test.dependency-watchdog.gardener.cloud/v1', kind: 'Watermill' };
    await seed.client.create(mills, {
      ...mill,
      metadata: { name: 'old' },
      spec: { wheel: { count: 2 } },
      status: { turning: 9 },
    });
    await seed.client.patch(`${mills}/old/status`, { spec: { wheel: { count: 7 } }, status: { turning: 1 } });
    await seed.client.patch(`${mills}/old/scale`, { spec: { replicas: 3 } });
    const old = await seed.client.get(`${mills}/old`);
    expect(old).toMatchObject({ spec: { wheel: { count: 3 } }, status: { turning: 1 } });
    const scale = await seed.client.get(`${mills}/old/scale`);
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 1 } });
  });

  it('serves the kinds that a configuration is validated against', async () => {
    interface Discovered {
      readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
      readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
    }
    const discover = async (path: string) => (await shoot.client.get(path)) as unknown as Discovered;
    const { groups } = await discover('/apis');
    const served = ['v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion))];
    let scaled = 0;
    for (const apiVersion of served) {
      const { resources } = await discover(apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);
      for (const { name, kind, namespaced } of resources) {
        if (!namespaced || name.includes('/')) continue;
        const hasScale = resources.some((one) => one.name === `${name}/scale`);
        scaled += hasScale ? 1 : 0;
        const judgement = judgeKind({ apiVersion, kind }).kind;
        expect(`${apiVersion} ${kind} ${judgement}`).toBe(`${apiVersion} ${kind} ${hasScale ? 'scalable' : 'wrong'}`);
      }
    }
    expect(scaled).toBe(4);
  });

  it('grants a user the rights of the rules and no others', async () => {
    const rules = [
      { apiGroups: ['machine.sapcloud.io'], resources: ['machines'], verbs: ['list'], namespace: 'shoot--a' },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] },
    ];
    const { text: config } = await seed.kubeconfigFor({ user: 'dwd-prober', groups: ['watchdogs'], rules });
    const prober = clientFromKubeconfig(config);
    expect(await statusOf(prober.request({ method: 'GET', path: machines }))).toBe(200);
    expect(await statusOf(prober.request({ method: 'GET', path: '/api/v1/nodes' }))).toBe(200);
    expect(await statusOf(prober.request({ method: 'GET', path: machines.replace('--a', '--b') }))).toBe(403);
    expect(await statusOf(prober.request({ method: 'DELETE', path: '/api/v1/nodes/a' }))).toBe(403);
    await expect(prober.list('/api/v1/secrets')).rejects.toThrow(/403 .*"dwd-prober" cannot list resource "secrets"/);
  });

  it('accepts service account tokens and refuses expired certificates', async () => {
    const rules = [{ nonResourceURLs: ['/version'], verbs: ['get'] }];
    const account = await seed.serviceAccountKubeconfig({ namespace: 'garden', name: 'dwd', rules });
    const asAccount = clientFromKubeconfig(account.text);
    expect(await asAccount.get('/version')).toMatchObject({ gitVersion: kubernetesVersion() });
    expect(await statusOf(asAccount.request({ method: 'GET', path: '/api/v1/pods' }))).toBe(403);
    const expired = clientFromKubeconfig((await seed.kubeconfigFor({ user: 'late', validForMs: -1 })).text);
    expect(await statusOf(expired.request({ method: 'GET', path: '/version' }))).toBe(401);
    const stranger = clientFromKubeconfig(seed.kubeconfigWith('stranger', { token: 'wrong' }).text);
    expect(await statusOf(stranger.request({ method: 'GET', path: '/version' }))).toBe(401);
  });

  it('runs kubectl, with input, and passes on its errors', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    expect(await seed.kubectl(['apply', '-f', '-'], JSON.stringify(pod))).toBe('pod/p created\n');
    expect(await seed.kubectl(['get', 'pods', '-o', 'name'])).toBe('pod/p\n');
    expect(await seed.kubectl(['version'])).toContain(`Client Version: ${kubernetesVersion()}`);
    await expect(seed.kubectl(['get', 'pod', 'q'])).rejects.toThrow('pods "q" not found');
  });

  it('restarts a crashed API server on the same port with the same data', { timeout: minute }, async () => {
    await shoot.client.create('/api/v1/namespaces', namespaceObject('kept'));
    await shoot.stopApiServer({ signal: 'SIGKILL' });
    expect(shoot.pids()).toEqual({ etcd: expect.any(Number) as unknown });
    await expect(shoot.client.get('/version')).rejects.toThrow('ECONNREFUSED');
    await shoot.startApiServer();
    expect(await shoot.client.get('/api/v1/namespaces/kept')).toMatchObject({ status: { phase: 'Active' } });
  });

  it('pauses the API server', { timeout: minute }, async () => {
    await shoot.pauseApiServer();
    const hanging = shoot.client.request({ method: 'GET', path: '/version', signal: AbortSignal.timeout(300) });
    await expect(hanging).rejects.toThrow('aborted');
    shoot.resumeApiServer();
    expect(await statusOf(shoot.client.request({ method: 'GET', path: '/version' }))).toBe(200);
  });

  it('runs a controller manager that notices a silent node', { timeout: minute }, async () => {
    await shoot.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() };
    await shoot.client.patch('/api/v1/nodes/n/status', { status: { conditions: [ready] } });
    const manager = await startControllerManager(shoot, { nodeMonitorGracePeriodSeconds: 2 });
    await waitFor({ what: 'node n Unknown', withinMs: minute }, async () => {
      const { status } = await shoot.client.get<{ status: { conditions: { type: string; status: string }[] } }>(
        '/api/v1/nodes/n',
      );
      return status.conditions.find((it) => it.type === 'Ready' && it.status === 'Unknown');
    });
    await manager.stop();
    expect(isAlive(manager.pid)).toBe(false);
  });

  it('reports at once why it does not start, and leaves nothing behind', { timeout: minute }, async () => {
    const broken = startControlPlane({ name: 'broken', apiServerFlags: { 'etcd-servers': '', 'no-such-flag': '1' } });
    await expect(broken).rejects.toThrow(/^kube-apiserver: ended early.*\n.*unknown flag: --no-such-flag/s);
    expect(directoriesOf('broken')).toEqual([]);
  });

  it('stops completely, even while paused', { timeout: minute }, async () => {
    const third = await startControlPlane({ name: 'third', kinds: [] });
    const { etcd, apiServer } = third.pids();
    await third.pauseApiServer();
    await third.pauseEtcd();
    await third.stop();
    await third.stop();
    expect([isAlive(etcd!), isAlive(apiServer!)]).toEqual([false, false]);
    expect(existsSync(third.directory)).toBe(false);
  });

  it('ends with a test process that is killed', { timeout: minute }, async () => {
    const script = `const { startControlPlane } = await import(${JSON.stringify(import.meta.resolve('../envtest/control-plane.ts'))});
      const { directory, pids } = await startControlPlane({ name: 'orphan', kinds: [] });
      console.log(JSON.stringify({ directory, ...pids() }));
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const orphan = JSON.parse(await text(child.stdout)) as { directory: string; etcd: number; apiServer: number };
    await waitFor({ what: 'the end of the orphans', withinMs: 10_000 }, async () => {
      return !isAlive(orphan.etcd) && !isAlive(orphan.apiServer) && !existsSync(orphan.directory);
    });
  });
});

function namespaceObject(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

async function statusOf(reply: Promise<ApiReply>): Promise<number> {
  return (await reply).status;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function directoriesOf(name: string): readonly string[] {
  return readdirSync(tmpdir()).filter((entry) => entry.startsWith(`dwd-envtest-${name}-`));
}
