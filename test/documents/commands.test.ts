import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../src/cli/parse-flags.ts';
import { commandsOf } from '../../src/cli/index.ts';
import { runProgram } from '../../src/cli/program.ts';
import { documentAt, documents, root } from './markdown.ts';
import { type ShellCommand, callsOf } from './shell.ts';

const nothing = async (): Promise<never> => expect.unreachable('commands are only read about');

/** All commands of the program, with functions that fail if they are run. */
const commands = commandsOf({
  runProber: nothing,
  runWeeder: nothing,
  runCare: { process: nothing, once: nothing },
  runPreflight: nothing,
  runStatus: nothing,
  runPage: nothing,
  runPause: nothing,
  runResume: nothing,
  runRelease: nothing,
  runRehearse: nothing,
  runDemo: nothing,
});

const parsed = commands.map((command) => ({
  ...command,
  invoke: async (texts: Readonly<Record<string, string | undefined>>): Promise<number> => {
    parseFlags(command.flags, texts);
    return 0;
  },
}));

/** First line of the program's error about a command line; empty if the command line is valid. Nothing is executed. */
const complaintAbout = async (argv: ShellCommand): Promise<string> => {
  const printed: string[] = [];
  const io = {
    argv,
    env: {},
    nodeVersion: 'v24.0.0',
    stdout: () => undefined,
    stdoutStyled: () => undefined,
    stderr: (text: string) => void printed.push(text),
    readFile: nothing,
    readInput: nothing,
    openLog: () => () => undefined,
    stopOnSignals: () => new AbortController().signal,
    reportCrashesTo: () => undefined,
  };
  const code = await runProgram(parsed, io);
  return code === 0 ? '' : (printed.join('').split('\n')[0] ?? '');
};

const complaintsAbout = async (calls: readonly ShellCommand[]): Promise<readonly string[]> => {
  const complaints = await Promise.all(calls.map(complaintAbout));
  return complaints.flatMap((complaint, index) =>
    complaint === '' ? [] : [`${(calls[index] ?? []).join(' ')}: ${complaint}`],
  );
};

/** True if the error is only about missing flags or arguments, which a command within a sentence may lack. */
const isIncomplete = (complaint: string): boolean => /is required|missing required argument/.test(complaint);

describe('commands in documents', () => {
  it.each(documents)('in the scripts of %s are valid', async (document) => {
    const calls = documentAt(document).scripts.flatMap((script) => callsOf('dwd', script));
    expect(await complaintsAbout(calls)).toEqual([]);
  });

  it.each(documents)('in the text of %s exist', async (document) => {
    const calls = documentAt(document)
      .spans.filter((span) => /^(?:bin\/)?dwd [a-z-]/.test(span))
      .flatMap((span) => callsOf('dwd', span.replaceAll(/\.\.\./g, '')));
    expect((await complaintsAbout(calls)).filter((complaint) => !isIncomplete(complaint))).toEqual([]);
  });

  it('call existing targets of the Makefile', () => {
    const targets = new Set(
      Array.from(readFileSync(`${root}Makefile`, 'utf8').matchAll(/^([a-z-]+):/gm), ([, name]) => name),
    );
    const called = documents.flatMap((document) => {
      const { scripts, spans } = documentAt(document);
      const calls = [...scripts, ...spans.filter((span) => /^make [a-z]/.test(span))].flatMap((text) =>
        callsOf('make', text),
      );
      return calls.flatMap((args) =>
        args.filter((arg) => /^[a-z-]+$/.test(arg)).map((target) => ({ document, target })),
      );
    });
    expect(called.length).toBeGreaterThan(5);
    expect(called.filter(({ target }) => !targets.has(target))).toEqual([]);
  });

  it('are found in a minimum number', () => {
    const scripts = documents.flatMap((document) => documentAt(document).scripts);
    expect(scripts.flatMap((script) => callsOf('dwd', script)).length).toBeGreaterThanOrEqual(30);
  });
});

describe('a wrong command', () => {
  it.each([
    ['dwd probe --config-file a', "dwd: unknown command 'probe'"],
    ['dwd prober --config-fil=a', "dwd prober: unknown flag '--config-fil"],
    ['KUBECONFIG=a bin/dwd schema --component prober | jq . # now', ''],
  ])('%s: %s', async (line, complaint) => {
    const [told = ''] = await complaintsAbout(callsOf('dwd', line));
    expect(told === '' ? '' : told.slice(told.indexOf(': ') + 2)).toMatch(complaint === '' ? /^$/ : complaint);
  });
});
