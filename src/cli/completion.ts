import { type Command, defineCommand } from './command.ts';
import { type Shell, completionScripts } from './completion-scripts.ts';
import { UsageError } from './errors.ts';

const shells = Object.keys(completionScripts) as readonly Shell[];

const description = `Prints a shell completion script for commands, flags and their values.

bash: source <(dwd completion bash). Put this line into ~/.bashrc to load it in every new shell.

zsh: source <(dwd completion zsh). Put this line into ~/.zshrc, after compinit.

fish: dwd completion fish > ~/.config/fish/completions/dwd.fish`;

/** `commands` returns all commands of the program, including this one. */
export const completionCommand = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'completion',
    summary: 'print a shell completion script',
    description,
    flags: {},
    operands: { name: 'SHELL', description: 'bash, zsh or fish', words: shells },
    async run({ operands: [word] }, io) {
      const shell = shells.find((known) => known === word);
      if (shell === undefined) throw new UsageError(`SHELL is bash, zsh or fish; it was given ${JSON.stringify(word)}`);
      io.stdout(completionScripts[shell](commands()));
      return 0;
    },
  });
