import { type ComponentName, componentsOf } from '../config/index.ts';
import { type ConfigProblem, formatProblem, hasErrors } from '../config/rules/index.ts';
import { type Command, defineCommand } from './command.ts';
import { componentType, configs } from './configs.ts';
import { UsageError } from './errors.ts';
import { optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { formatDocument, outputFlag } from './output.ts';

const description = `Checks configuration files. A file contains a configuration, or a ConfigMap (every key of its data is checked: as configuration of the component that its kind names, else of --component).

Prints each problem, with the allowed values, as FILE:LINE:COLUMN: FIELD: MESSAGE. Exits with 1 if there is an error, and with 0 if there are only warnings.`;

interface Validation {
  readonly file: string;
  readonly valid: boolean;
  /** Reason why the file cannot be read. */
  readonly error?: string;
  readonly problems: readonly ConfigProblem[];
}

/**
 * Checks a file as configuration of `component` or, without it, of the component that each configuration in it names. Says in a terminal that it is valid.
 * Rejects with a UsageError if a configuration names none.
 */
const validateFile = async (component: ComponentName | undefined, file: string, io: CliIo): Promise<Validation> => {
  let text: string;
  try {
    text = await io.readInput(file);
  } catch (error) {
    return { file, valid: false, error: `cannot read ${file}: ${(error as Error).message}`, problems: [] };
  }
  const named = componentsOf(text);
  const own = component ?? (named.includes(undefined) ? undefined : named[0]);
  if (own === undefined) {
    throw new UsageError(
      `flag --component is required for ${file}, which has no kind; it takes ${componentType.takes}`,
    );
  }
  const problems = configs[own].check(text, configs);
  const valid = !hasErrors(problems);
  const found = [...new Set(named.map((one) => one ?? own))].join(' and ');
  if (valid && io.progress !== undefined) io.stderr(`${file}: valid configuration of ${found}\n`);
  return { file, valid, problems };
};

export const validateCommand: Command = defineCommand({
  name: 'validate',
  summary: 'check configuration files',
  description,
  flags: {
    component: optionalFlag(
      componentType,
      `Component that the configuration is for: ${componentType.takes}. Without it, that of the kind in the file`,
    ),
    output: outputFlag(),
  },
  operands: {
    name: 'FILE',
    description: 'Files to check; "-" is standard input, and a process substitution works too',
  },
  async run({ flags, operands }, io) {
    const { component, output } = flags;
    const files: Validation[] = [];
    for (const file of operands) files.push(await validateFile(component, file, io));
    for (const { error } of files) if (error !== undefined) io.stderr(`dwd validate: ${error}\n`);
    const lines = files.flatMap(({ file, problems }) => problems.map((problem) => `${formatProblem(file, problem)}\n`));
    io.stdout(output === 'table' ? lines.join('') : formatDocument({ files }, output));
    return files.every(({ valid }) => valid) ? 0 : 1;
  },
});
