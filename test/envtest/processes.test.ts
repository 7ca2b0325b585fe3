import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { waitFor } from './waiting.ts';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it('a server and its files end with a test process that is killed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-processes-'));
  const options = { name: 'server', command: 'sleep', args: ['600'], logFile: `${directory}/log`, directory };
  const script = `const { startProcess } = await import(${JSON.stringify(import.meta.resolve('./processes.ts'))});
    console.log((await startProcess(${JSON.stringify(options)})).pid);
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = Number(await text(child.stdout));
  expect(pid).toBeGreaterThan(0);
  await waitFor({ what: 'the end of the orphan' }, () => !isAlive(pid) && !existsSync(directory));
});
