import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { endDemos, startInColour } from './support/demo.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const run = promisify(execFile);

const rehearse = async (...[TZ, ...flags]: readonly [string, ...string[]]): Promise<string> => {
  const config = `--config-file=${pathOf('examples/prober-config.yaml')}`;
  const args = [pathOf('bin/dwd'), 'rehearse', config, '--shoots=3', '--nodes=4', ...flags];
  return (await run(process.execPath, args, { env: { ...process.env, TZ } })).stdout;
};

it('shows its progress in a terminal, and removes it at the end', async () => {
  const config = `--config-file=${pathOf('examples/prober-config.yaml')}`;
  const show = startInColour('rehearse', config, '--shoots=3', '--nodes=4');
  expect(await show.exit).toBe(0);
  await endDemos();
  const [before = '', after = ''] = show.output().split('Rehearsed: ');
  expect(before).toContain('rehearsing without protection: 15s of 15m0s');
  expect(before).toContain('rehearsing with protection: 1m0s of 15m0s');
  expect(before.endsWith('\r\u001b[K')).toBe(true);
  expect(after).not.toContain('\u001b');
});

it.each(['lb', 'seed-slow'])('prints the same bytes in every process and time zone: %s', async (fault) => {
  const flags = [`--fault=${fault}`, '--seed=9'];
  const here = await rehearse('UTC', ...flags);
  expect(here).toContain('PROTECTED');
  expect(await rehearse('Pacific/Chatham', ...flags)).toBe(here);
  const json = await rehearse('UTC', ...flags, '--output=json');
  expect(await rehearse('America/St_Johns', ...flags, '--output=json')).toBe(json);
});

it('fails as every command does, with its message', async () => {
  await expect(rehearse('UTC', '--config-file=/none')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^dwd rehearse: cannot read --config-file \/none: [^\n]+\n$/) as string,
  });
});
