import type { LoadedConfig } from '../config/index.ts';
import { formatProblem } from '../config/rules/index.ts';
import { CommandError } from '../process/index.ts';
import { adviceOn, proberConfig } from '../prober/index.ts';
import type { CliIo } from './io.ts';

/** Loads the configuration that `--config-file` names. `lines` are its warnings. Rejects with a CommandError if it cannot be read, or is not valid. */
export const loadConfigFile = async <Settings>(
  file: string,
  { readFile }: Pick<CliIo, 'readFile'>,
  load: (text: string) => LoadedConfig<Settings>,
) => {
  const text = await readFile(file).catch((error: unknown) => {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  });
  const { settings, problems, given } = load(text);
  const lines = problems.map((problem) => formatProblem(file, problem));
  if (settings === undefined) throw new CommandError('the configuration is not valid', lines);
  return { text, settings, given, problems, lines };
};

/** Loads the prober's configuration like a running prober, without errors about kinds: the seed shows later which kinds it serves. */
export const loadProberFile = async (file: string, io: CliIo) => {
  const load = (text: string) => proberConfig.load(text, { unknownFields: 'warning' });
  const { settings, lines } = await loadConfigFile(file, io, load);
  const advice = adviceOn(settings).map((one) => `${file}: ${one.field}: ${one.text}`);
  return { settings, configWarnings: [...lines, ...advice] };
};
