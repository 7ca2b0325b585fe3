import { formatProblem } from '../config/rules/index.ts';
import { adviceOn, proberConfig } from '../prober/index.ts';
import { CommandError } from './errors.ts';
import { readFlagFile } from './flag-file.ts';
import type { CliIo } from './io.ts';

/** The prober's configuration that `--config-file` names. Throws a CommandError. */
export const loadProberFile = async (file: string, io: CliIo) => {
  const source = await readFlagFile('config-file', file, io);
  // As a component that runs: only the seed can tell if it serves a kind, and it is asked.
  const { settings, problems } = proberConfig.load(source, { unknownFields: 'warning' });
  const lines = problems.map((problem) => formatProblem(file, problem));
  if (settings === undefined) throw new CommandError('the configuration is not valid', lines);
  const advice = adviceOn(settings).map((one) => `${file}: ${one.field}: ${one.text}`);
  return { settings, configWarnings: [...lines, ...advice] };
};
