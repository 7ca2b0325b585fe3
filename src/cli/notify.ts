import { type NotifySettings, parseTemplate, renderJson } from '../prober/notify/index.ts';
import { CommandError } from './errors.ts';
import { readFlagFile } from './flag-file.ts';
import type { CliIo } from './io.ts';

interface NotifyFlags {
  /** As it was given. It may be a secret: no message has it. */
  readonly url: string | undefined;
  /** Path of a file. */
  readonly template: string | undefined;
}

type Sources = Pick<CliIo, 'env' | 'readFile'>;

const forms = 'an http or https URL, file:PATH or env:NAME';

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Where the URL comes from. Throws a CommandError. */
const urlSource = (given: string, { env, readFile }: Sources): NotifySettings['url'] => {
  const colon = given.indexOf(':');
  const rest = given.slice(colon + 1);
  const place = rest.startsWith('///') ? rest.slice(2) : rest;
  const kind = place === '' ? undefined : given.slice(0, colon);
  // A mounted Secret may change.
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

/** Undefined where nobody is to be notified. Rejects with a CommandError, which never has the URL in it. */
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
