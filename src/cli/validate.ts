import { type ComponentName } from '../config/index.ts';
import { type ConfigProblem, formatProblem, hasErrors } from '../config/rules/index.ts';
import { type Command, defineCommand } from './command.ts';
import { configComponentFlag, configs } from './configs.ts';
import type { CliIo } from './io.ts';
import { formatDocument, outputFlag } from './output.ts';

const description = `Checks configuration files. A file contains a configuration, a ConfigMap (every key of its data is checked), or the output of "dwd manifests".

Prints each problem, with the allowed values, as FILE:LINE:COLUMN: FIELD: MESSAGE. Exits with 1 if there is an error, and with 0 if there are only warnings.`;

interface Validation {
  readonly file: string;
  readonly valid: boolean;
  /** Reason why the file cannot be read. */
  readonly error?: string;
  readonly problems: readonly ConfigProblem[];
}

const validateFile = async (component: ComponentName, file: string, io: CliIo): Promise<Validation> => {
  let text: string;
  try {
    text = await io.readFile(file);
  } catch (error) {
    return { file, valid: false, error: `cannot read ${file}: ${(error as Error).message}`, problems: [] };
  }
  const problems = configs[component].check(text);
  return { file, valid: !hasErrors(problems), problems };
};

export const validateCommand: Command = defineCommand({
  name: 'validate',
  summary: 'check configuration files',
  description,
  flags: {
    component: configComponentFlag,
    output: outputFlag(),
  },
  operands: { name: 'FILE', description: 'Files to check; "-" is standard input' },
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
