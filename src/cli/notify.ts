import { type NotifySettings, parseTemplate, renderJson } from '../prober/notify/index.ts';
import { CommandError } from './errors.ts';
import { readFlagFile } from './flag-file.ts';
import type { CliIo } from './io.ts';

interface NotifyFlags {
  /** The flag's value as given. No message may contain it, because it may be a secret. */
  readonly url: string | undefined;
  /** Path of the template file. */
  readonly template: string | undefined;
}

type Sources = Pick<CliIo, 'env' | 'readFile'>;

const forms = 'an http or https URL, file:PATH or env:NAME';

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Returns a function that reads the URL. Throws a CommandError if the flag is not valid. */
const urlSource = (given: string, { env, readFile }: Sources): NotifySettings['url'] => {
  const colon = given.indexOf(':');
  const rest = given.slice(colon + 1);
  const place = rest.startsWith('///') ? rest.slice(2) : rest;
  const kind = place === '' ? undefined : given.slice(0, colon);
  // The file is read again for each notification, because a mounted Secret may change.
  if (kind === 'file') return async () => (await readFile(place)).trim();
  const url = kind === 'env' ? (env[place] ?? '').trim() : given;
  if (isWebAddress(url)) return async () => url;
  throw new CommandError(
    kind === 'env' ? `--notify-url: the variable ${place} has no http or https URL` : `--notify-url takes ${forms}`,
  );
};

const readTemplate = async (path: string, sources: Sources): Promise<NotifySettings['render']> => {
  const template = parseTemplate(await readFlagFile('notify-template', path, sources));
  if (!template.ok) throw new CommandError(`--notify-template ${path}: ${template.error}`);
  return template.value;
};

/** Returns undefined without `--notify-url`. Rejects with a CommandError, which never contains the URL. */
export const notifySettings = async (
  { url, template }: NotifyFlags,
  sources: Sources,
): Promise<NotifySettings | undefined> => {
  if (url === undefined) return undefined;
  return {
    url: urlSource(url, sources),
    render: template === undefined ? renderJson : await readTemplate(template, sources),
  };
};
