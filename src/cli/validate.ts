import {
  checkCareFile,
  checkProberFile,
  checkWeederFile,
  type ConfigProblem,
  formatProblem,
  hasErrors,
} from '../config/index.ts';
import { type Command, defineCommand } from './command.ts';
import { choice } from './flag-types.ts';
import { requiredFlag } from './flags.ts';
import type { CliIo } from './io.ts';

const checks = { prober: checkProberFile, weeder: checkWeederFile, care: checkCareFile } as const satisfies Record<
  string,
  (text: string) => readonly ConfigProblem[]
>;

type Component = keyof typeof checks;

const description = `Checks configuration files. A file is a configuration, or the manifest of a ConfigMap, each key of whose data is checked; "-" is the standard input.

Prints FILE:LINE:COLUMN: path: what is wrong and what is allowed, for every problem. Exits with 1 when there is an error; warnings are allowed.`;

const validateFile = async (component: Component, file: string, io: CliIo): Promise<boolean> => {
  let text: string;
  try {
    text = await io.readFile(file);
  } catch (error) {
    io.stderr(`dwd validate: cannot read ${file}: ${(error as Error).message}\n`);
    return false;
  }
  const problems = checks[component](text);
  io.stdout(problems.map((problem) => `${formatProblem(file, problem)}\n`).join(''));
  return !hasErrors(problems);
};

export const validateCommand: Command = defineCommand({
  name: 'validate',
  summary: 'check configuration files',
  description,
  flags: {
    component: requiredFlag(
      choice<Component>('component', ['prober', 'weeder', 'care']),
      'Whose configuration it is: prober, weeder or care',
    ),
  },
  operands: { name: 'FILE', description: 'Files to check; "-" is the standard input' },
  async run({ flags, operands }, io) {
    let valid = true;
    for (const file of operands) valid = (await validateFile(flags.component, file, io)) && valid;
    return valid ? 0 : 1;
  },
});
