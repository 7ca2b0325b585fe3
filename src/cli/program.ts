import { Command as Parser, CommanderError, Help, Option } from 'commander';
import { CommandError } from '../process/index.ts';
import { NoSuchShoot } from '../status/state/find-shoot.ts';
import type { Command, FlagTexts, Operands } from './command.ts';
import { completeWord, completions } from './completion.ts';
import { UsageError } from './errors.ts';
import { type Flag, normaliseArguments } from './parse-flags.ts';
import type { CliIo } from './io.ts';

const width = 80;

const optionOf = (name: string, definition: Flag<unknown>): Option => {
  const { type, short, description, default: fallback = '', required, ignored } = definition;
  const suffix = required === true ? ' (required)' : fallback === '' ? '' : ` (default ${fallback})`;
  const value = type.bare === true ? `[${type.placeholder}]` : `<${type.placeholder}>`;
  const option = new Option(`${short === undefined ? '' : `-${short}, `}--${name} ${value}`, description + suffix);
  return option.helpGroup(ignored === true ? 'Flags of the Go program that have no effect:' : 'Flags:');
};

/** Puts descriptions below flag names, as in the help of Go programs, because long names leave no room for a second column. */
const formatItem: Help['formatItem'] = (term, termWidth, description, helper) => {
  if (termWidth <= 20) return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const lines = description === '' ? [] : helper.boxWrap(description, width - 6).split('\n');
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join('\n');
};

const termOf = ({ name, words }: Operands): string => (words === undefined ? `${name}...` : name);

const usageOf = ({ flags, operands }: Command): string => {
  const required = Object.entries(flags).filter(([, definition]) => definition.required === true);
  const words = required.map(([name, { type }]) => `--${name} <${type.placeholder}>`);
  if (required.length < Object.keys(flags).length) words.push('[flags]');
  return [...words, ...(operands === undefined || operands === 'ignored' ? [] : [termOf(operands)])].join(' ');
};

const addCommand = (
  program: Parser,
  command: Command,
  invoke: (texts: FlagTexts, operands: readonly string[]) => Promise<void>,
) => {
  const { name, aliases = [], summary, description, flags, operands } = command;
  const parser = program.command(name).summary(summary).description(description).usage(usageOf(command));
  for (const alias of aliases) parser.alias(alias);
  const options = Object.entries(flags).map(([flagName, definition]) => ({
    flagName,
    option: optionOf(flagName, definition),
  }));
  for (const { option } of options) parser.addOption(option);
  if (operands === 'ignored') parser.allowExcessArguments();
  else if (operands !== undefined) parser.argument(`<${termOf(operands)}>`, operands.description);
  parser.action(async () => {
    const values = parser.opts<FlagTexts>();
    await invoke(
      Object.fromEntries(options.map(({ flagName, option }) => [flagName, values[option.attributeName()]])),
      parser.args,
    );
  });
};

const parserOf = (program: Parser, name: string): Parser | undefined =>
  program.commands.find((command) => command.name() === name || command.aliases().includes(name));

const addHelpCommand = (program: Parser, io: CliIo): void => {
  program.helpCommand(false);
  const help = program
    .command('help')
    .summary('print help for a command')
    .description('Prints help for a command, or the list of all commands.');
  help
    .usage('[COMMAND]')
    .argument('[COMMAND]', 'Name of a command')
    .action((name?: string) => {
      const about = name === undefined ? program : parserOf(program, name);
      if (about === undefined) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
      io.stdout(about.helpInformation());
    });
};

const createProgram = (commands: readonly Command[], io: CliIo, setExitCode: (code: number) => void): Parser => {
  const program = new Parser('dwd')
    .description('Meltdown protection for hosted Kubernetes control planes.')
    .usage('COMMAND [flags]')
    .configureHelp({ helpWidth: width, formatItem, subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      // `tell` prints the error, in the same form as our own errors.
      outputError: () => undefined,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .addHelpOption(new Option('-h, --help', 'Print this help').helpGroup('Flags:'))
    .addOption(new Option('-V, --version', 'Print the output of "dwd version"').helpGroup('Flags:'))
    .commandsGroup('Commands:');
  for (const command of commands) {
    addCommand(program, command, async (texts, operands) => setExitCode(await command.invoke(texts, operands, io)));
  }
  addHelpCommand(program, io);
  return program;
};

const versionWords: ReadonlySet<string> = new Set(['--version', '-version', '-V']);

/** Returns the name of the command, empty if there is none, and the arguments after it. */
const commandLineOf = ({ argv }: CliIo): readonly [name: string, ...string[]] => {
  const [name = '', ...rest] = argv;
  return [versionWords.has(name) ? 'version' : name, ...rest];
};

const reportError = (program: Parser, error: unknown, io: CliIo): number => {
  if (error instanceof CommanderError && error.code.startsWith('commander.help')) return error.exitCode === 0 ? 0 : 2;
  const about = parserOf(program, commandLineOf(io)[0]) ?? program;
  const name = about === program ? 'dwd' : `dwd ${about.name()}`;
  const failure = error instanceof NoSuchShoot ? new CommandError(error.message) : error;
  if (failure instanceof CommandError) {
    io.stderr(`${[`${name}: ${failure.message}`, ...failure.details].join('\n')}\n`);
    return failure.exitCode;
  }
  if (!(error instanceof CommanderError || error instanceof UsageError)) throw error;
  const message = error.message.replace(/^error: /, '').replace('unknown option', 'unknown flag');
  const more = about === program ? 'dwd help' : `dwd help ${about.name()}`;
  io.stderr(`${name}: ${message}\n\nUsage: ${about.createHelp().commandUsage(about)}\nRun "${more}" for more.\n`);
  return 2;
};

/**
 * Runs the command that `io.argv` names and resolves with its exit code, with that of a CommandError, which is printed, or with 2
 * and the usage on stderr if the command line is wrong. Rejects only because of a bug.
 */
export const runProgram = async (commands: readonly Command[], io: CliIo): Promise<number> => {
  let exitCode = 0;
  const program = createProgram(commands, io, (code) => {
    exitCode = code;
  });
  try {
    const [name, ...rest] = commandLineOf(io);
    if (name === completeWord) {
      io.stdout(completions(commands, rest));
      return 0;
    }
    const command = commands.find((known) => known.name === name || known.aliases?.includes(name));
    const args =
      command === undefined
        ? normaliseArguments(io.argv, {})
        : [name, ...normaliseArguments(rest, command.flags, { untilOperand: command.operands === 'ignored' })];
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportError(program, error, io);
  }
};
