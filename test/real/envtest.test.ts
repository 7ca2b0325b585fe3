import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { judgeKind } from '../../src/config/rules/known-kinds.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describeEnvtest('a real control plane', () => {
  let shoot: ControlPlane;
  beforeAll(async () => {
    shoot = await startControlPlane({ name: 'shoot', kinds: [] });
  });
  afterAll(() => shoot.stop());

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

  it('ends with a test process that is killed', async () => {
    const script = `const { startControlPlane } = await import(${JSON.stringify(import.meta.resolve('../envtest/control-plane.ts'))});
      const { directory, pids } = await startControlPlane({ name: 'orphan', kinds: [] });
      console.log(JSON.stringify({ directory, ...pids }));
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const orphan = JSON.parse(await text(child.stdout)) as { directory: string; etcd: number; apiServer: number };
    await waitFor({ what: 'the end of the orphans' }, async () => {
      return !isAlive(orphan.etcd) && !isAlive(orphan.apiServer) && !existsSync(orphan.directory);
    });
  });
});
