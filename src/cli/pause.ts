import type { PauseRun, ResumeRun, SteerReport } from '../steer/index.ts';
import { type Command, defineCommand } from './command.ts';
import { positiveDuration, text } from './flag-types.ts';
import { optionalFlag, requiredFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { checkTarget, sessionOf, steerFlags } from './seed-flags.ts';

export type RunPause = (run: PauseRun) => Promise<SteerReport>;
export type RunResume = (run: ResumeRun) => Promise<SteerReport>;

const pauseDescription = `Pauses meltdown protection for one shoot or for all: the prober scales nothing down. It continues to probe, and restores held resources as usual. A scale-down in progress ends. If the pause ends during an outage, the prober protects at once.

The command writes an annotation on the Namespace of the shoot, or with --all on the Namespace of the prober. A running prober applies the annotation within a second. Exits with 0 if the annotation is written, and with 1 on failure.`;

const resumeDescription = `Ends a pause, and lists other pauses that are still in force. dwd resume --all ends only the pause of dwd pause --all, not those of single shoots. Exits with 0 if that pause has ended or did not exist, and with 1 on failure.`;

const pauseFlags = {
  reason: requiredFlag(text('text', 'a text'), 'Reason of the pause, shown in the status, the log and the Events'),
  forMs: optionalFlag(
    positiveDuration,
    'Duration of the pause, such as 1h30m. Without it, the pause lasts until dwd resume',
  ),
  ...steerFlags('30s'),
} as const;

const print = (report: SteerReport, io: CliIo): number => {
  io.stdout(`${report.join('\n')}\n`);
  return 0;
};

export const pauseCommand = (run: RunPause): Command =>
  defineCommand({
    name: 'pause',
    summary: 'pause scale-downs in a shoot or in all shoots',
    description: pauseDescription,
    flags: pauseFlags,
    run: async ({ flags: given }, io) => {
      checkTarget(given);
      return print(await run({ ...given, ...sessionOf(io) }), io);
    },
  });

export const resumeCommand = (run: RunResume): Command =>
  defineCommand({
    name: 'resume',
    summary: 'end a pause',
    description: resumeDescription,
    flags: steerFlags('30s'),
    run: async ({ flags: given }, io) => {
      checkTarget(given);
      return print(await run({ ...given, ...sessionOf(io) }), io);
    },
  });
