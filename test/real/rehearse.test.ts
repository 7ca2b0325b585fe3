import { expect, it } from 'vitest';
import { startProgram } from './support/program.ts';
import { startInTerminal } from './support/terminal.ts';

const args = ['rehearse', '--config-file=examples/prober-config.yaml', '--shoots=3', '--nodes=4'];

const rehearse = async (TZ: string, ...flags: readonly string[]): Promise<string> => {
  const program = startProgram([...args, ...flags], { env: { TZ } });
  expect(await program.ended, program.output()).toBe(0);
  return program.stdout();
};

it('shows its progress in a terminal, and removes it at the end', async () => {
  // With CI set, Node assumes that a terminal has no colours.
  const env = { NO_COLOR: undefined, CI: undefined, TERM: 'xterm' };
  const show = startInTerminal(['dwd', ...args].join(' '), { env });
  expect(await show.ended).toBe(0);
  const [before = '', after = ''] = show.output().split('Rehearsed: ');
  expect(before).toContain('rehearsing without protection: 15s of 15m0s');
  expect(before).toContain('rehearsing with protection: 1m0s of 15m0s');
  expect(before.endsWith('\r\u001b[K')).toBe(true);
  expect(after).not.toContain('\u001b');
});

it('prints the same bytes in every process and time zone', async () => {
  const flags = ['--fault=seed-slow', '--seed=9'];
  const here = await rehearse('UTC', ...flags);
  expect(here).toContain('PROTECTED');
  expect(await rehearse('Pacific/Chatham', ...flags)).toBe(here);
  const json = await rehearse('UTC', ...flags, '--output=json');
  expect(await rehearse('America/St_Johns', ...flags, '--output=json')).toBe(json);
});
