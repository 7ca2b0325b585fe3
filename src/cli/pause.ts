import type { CommandFailure } from '../install/index.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import type { PauseRun, ResumeRun, SteerReport } from '../steer/index.ts';
import { valueOf } from './cluster-command.ts';
import { type Command, defineCommand } from './command.ts';
import { positiveDuration, text } from './flag-types.ts';
import { optionalFlag, requiredFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { steerCommandOf, steerFlags } from './steer-flags.ts';

export type RunPause = (run: PauseRun) => Promise<Result<SteerReport, CommandFailure>>;
export type RunResume = (run: ResumeRun) => Promise<Result<SteerReport, CommandFailure>>;

const pauseDescription = `Pauses meltdown protection, of one shoot or of all: probes and verdicts go on, nothing is scaled down, and what is held is restored as usual. A scale-down under way ends. When the pause ends in an outage, the prober protects at once.

It writes an annotation on the Namespace of the shoot, or for all shoots on that of the prober, which a running prober heeds within a second. Exits with 0 when that is written, and with 1 when not.`;

const resumeDescription = `Takes a pause back, and names those that still hold. What dwd pause --all has paused, dwd resume --all takes back. Exits with 0 when no pause is left there, and with 1 when that could not be done.`;

const pauseFlags = {
  reason: requiredFlag(text('text', 'a text'), 'Why, for who reads the status, the log and the Events'),
  for: optionalFlag(positiveDuration, 'How long, such as 1h30m. Without it: until dwd resume'),
  ...steerFlags('30s'),
} as const;

const print = (report: SteerReport, io: CliIo): number => {
  io.stdout(`${report.join('\n')}\n`);
  return 0;
};

export const pauseCommand = (run: RunPause): Command =>
  defineCommand({
    name: 'pause',
    summary: 'scale nothing down, in a shoot or in all',
    description: pauseDescription,
    flags: pauseFlags,
    run: async ({ flags: given }, io) => {
      const { reason, for: forMs } = given;
      return print(valueOf(await run({ ...steerCommandOf(given, io), reason, forMs }), io), io);
    },
  });

export const resumeCommand = (run: RunResume): Command =>
  defineCommand({
    name: 'resume',
    summary: 'take a pause back',
    description: resumeDescription,
    flags: steerFlags('30s'),
    run: async ({ flags: given }, io) => print(valueOf(await run(steerCommandOf(given, io)), io), io),
  });
