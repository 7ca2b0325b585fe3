import { formatProblem } from '../config/index.ts';
import { adviceOn, proberConfig } from '../prober/index.ts';
import { CommandError } from './errors.ts';
import type { CliIo } from './io.ts';

/** The prober's configuration that `--config-file` names. Throws a CommandError. */
export const loadProberFile = async (file: string, io: CliIo) => {
  let source: string;
  try {
    source = await io.readFile(file);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  }
  // As a component that runs: only the seed can tell if it serves a kind, and it is asked.
  const { settings, problems } = proberConfig.load(source, { unknownFields: 'warning' });
  const lines = problems.map((problem) => formatProblem(file, problem));
  if (settings === undefined) throw new CommandError('the configuration is not valid', lines);
  const advice = adviceOn(settings).map((one) => `${file}: ${one.field}: ${one.text}`);
  return { settings, configWarnings: [...lines, ...advice] };
};
