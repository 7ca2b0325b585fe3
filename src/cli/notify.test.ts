import { describe, expect, it } from 'vitest';
import { notifySettings } from './notify.ts';
import { dwd } from './testing/dwd.ts';

const files: Record<string, string> = {
  '/url': 'https://hooks.example/s3cr3t\n',
  'template.json': '{"text": "{{shoot}}"}',
  'bad.json': '{"text": {{shoot}}}',
};
const sources = {
  env: { HOOK: ' https://hooks.example/env ', EMPTY: '' },
  readFile: async (path: string) => files[path] ?? Promise.reject(new Error('no such file or directory')),
};
const settingsOf = (url: string | undefined, template?: string) => notifySettings({ url, template }, sources);

describe('--notify-url', () => {
  it.each([
    ['http://a.example/x', 'http://a.example/x'],
    ['file:/url', 'https://hooks.example/s3cr3t'],
    ['file:///url', 'https://hooks.example/s3cr3t'],
    ['env:HOOK', 'https://hooks.example/env'],
  ])('%s', async (given, url) => {
    expect(await (await settingsOf(given))?.url()).toBe(url);
  });

  it('reads a file again for each notification: a mounted Secret may change', async () => {
    const settings = await settingsOf('file:/url');
    files['/url'] = 'https://hooks.example/new';
    expect(await settings?.url()).toBe('https://hooks.example/new');
  });

  it.each([
    ['hooks.example/s3cr3t', '--notify-url takes an http or https URL, file:PATH or env:NAME'],
    ['ftp://hooks.example/s3cr3t', '--notify-url takes an http or https URL, file:PATH or env:NAME'],
    ['env:EMPTY', '--notify-url: the variable EMPTY has no http or https URL'],
    ['env:NOT_THERE', '--notify-url: the variable NOT_THERE has no http or https URL'],
  ])('refuses %s, and does not repeat it', async (given, message) => {
    await expect(settingsOf(given)).rejects.toMatchObject({ name: 'CommandError', message });
  });

  it('is absent: there are no notifications', async () => {
    expect(await settingsOf(undefined)).toBeUndefined();
  });

  it.each([
    ['gone.json', 'cannot read --notify-template gone.json: no such file or directory'],
    ['bad.json', '--notify-template bad.json: it is no JSON once the fields are put in: they belong between quotes'],
  ])('is refused with the template %s', async (template, message) => {
    await expect(settingsOf('http://a.example', template)).rejects.toMatchObject({ name: 'CommandError', message });
  });

  it.each(['https://hooks.example/s3cr3t', 'hooks.example/s3cr3t'])(
    'is in no output of the program: %s',
    async (url) => {
      const { started, stdout, stderr } = await dwd('prober', '--config-file=config.yaml', `--notify-url=${url}`);
      expect(stdout + stderr).not.toMatch(/hooks|s3cr3t/);
      expect(stderr).not.toBe('');
      expect(started).toHaveLength(url.startsWith('https') ? 1 : 0);
    },
  );
});
