import { type Command, defineCommand } from './command.ts';
import { CommandError, UsageError } from './errors.ts';
import { formatExplanation } from './explain-output.ts';
import { shootNames } from './flag-types.ts';
import { formatDocument, outputFlag } from './output.ts';
import type { RunStatus } from './status.ts';
import { statusFlags, statusRunOf } from './status-flags.ts';

const description = `Prints the last verdict on a shoot as an argument: every lease that counts with its last renewal and age, what was left out and why, the threshold, what happens next and when; then the last 50 decisions with their evidence, and what was scaled, paused, resumed and released between them, as the leader has kept them in its memory: the list ends with its process. Decisions in a row that say the same are one.

Exits with 0, with 1 when there is no such shoot, and with 2 when no prober could be asked; then it prints what the objects of the seed tell.`;

const flags = { ...statusFlags, output: outputFlag() } as const;

export const explainCommand = (run: RunStatus): Command =>
  defineCommand({
    name: 'explain',
    summary: 'print the last verdict on a shoot as an argument',
    description,
    flags,
    operands: { name: 'SHOOT', description: `The shoot: ${shootNames}`, words: [] },
    run: async ({ flags: given, operands: [shoot] }, io) => {
      if (shoot === undefined) throw new UsageError(`needs a shoot: ${shootNames}`);
      const status = await run(statusRunOf(given, { shoot, io }));
      const [found, ...others] = status.shoots;
      for (const problem of status.problems) io.stderr(`dwd explain: ${problem}\n`);
      if (found === undefined) {
        if (status.source === 'objects') {
          io.stderr(`dwd explain: nothing of ${shoot} is held or paused, and no prober could be asked for more\n`);
          return 2;
        }
        for (const line of status.attention) io.stderr(`dwd explain: ${line}\n`);
        return 1;
      }
      if (others.length > 0) {
        const names = status.shoots.map(({ namespace }) => namespace);
        throw new CommandError(`clusters share the namespace ${shoot}, name one of them: ${names.join(', ')}`);
      }
      const { output } = given;
      io.stdout(output === 'table' ? formatExplanation(found, status.at) : formatDocument(found, output));
      return status.source === 'leader' ? 0 : 2;
    },
  });
