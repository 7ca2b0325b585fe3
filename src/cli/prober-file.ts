import { formatProblem } from '../config/rules/index.ts';
import { adviceOn, proberConfig } from '../prober/index.ts';
import { CommandError } from './errors.ts';
import { readFlagFile } from './flag-file.ts';
import type { CliIo } from './io.ts';

/** Loads the prober's configuration that `--config-file` names. Rejects with a CommandError. */
export const loadProberFile = async (file: string, io: CliIo) => {
  const source = await readFlagFile('config-file', file, io);
  // Loaded like in a running prober, without errors about kinds: the seed shows later which kinds it serves.
  const { settings, problems } = proberConfig.load(source, { unknownFields: 'warning' });
  const lines = problems.map((problem) => formatProblem(file, problem));
  if (settings === undefined) throw new CommandError('the configuration is not valid', lines);
  const advice = adviceOn(settings).map((one) => `${file}: ${one.field}: ${one.text}`);
  return { settings, configWarnings: [...lines, ...advice] };
};
