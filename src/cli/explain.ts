import { type Command, defineCommand } from './command.ts';
import { noSeed } from '../status/index.ts';
import { formatExplanation } from './explain-output.ts';
import { shootNames } from './flag-types.ts';
import { formatDocument, outputFlag } from './output.ts';
import type { RunStatus } from './status.ts';
import { sessionOf, statusFlags } from './seed-flags.ts';

const description = `Prints the state of a shoot as dwd status does, then the argument for it: each lease that counts, with its last renewal and its age when it was last read; the nodes that do not count, and why; the threshold; and the steps of the present outage, with the time that each took.

Then it prints the last 50 decisions with their evidence, including when resources were scaled or released and when the shoot was paused or resumed. The leader keeps them in memory only, and for an hour after it has stopped to probe the shoot; they are lost when its process ends. Consecutive decisions that differ only in their numbers are one entry.

Exits with 0 on success, with 1 if there is no such shoot, and with 2 if no prober responded. In that case it prints only the information from the objects of the seed.`;

const flags = { ...statusFlags, output: outputFlag() } as const;

export const explainCommand = (run: RunStatus): Command =>
  defineCommand({
    name: 'explain',
    summary: 'print the last verdict on a shoot and the evidence for it',
    description,
    flags,
    operands: { name: 'SHOOT', description: `Shoot, given as ${shootNames}`, words: [] },
    run: async ({ flags: given, operands: [shoot = ''] }, io) => {
      const status = await run({ ...given, ...sessionOf(io), shoot });
      const [found] = status.shoots;
      for (const problem of status.problems) io.stderr(`dwd explain: ${problem}\n`);
      if (found === undefined) {
        const why =
          status.source === 'no-seed'
            ? noSeed
            : `${shoot} is not paused and has no held resources; no prober responded, so nothing else is known`;
        io.stderr(`dwd explain: ${why}\n`);
        return 2;
      }
      const { output } = given;
      io.stdout(output === 'table' ? formatExplanation(found, status) : formatDocument(found, output));
      return status.source === 'leader' || status.source === 'standby' ? 0 : 2;
    },
  });
