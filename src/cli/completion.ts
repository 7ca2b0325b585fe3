import { type Command, defineCommand } from './command.ts';
import { UsageError } from './errors.ts';

/** The command that the scripts call with the words of a command line. It is in no list. */
export const completeWord = '__complete';

/** Scripts that ask the program. Without an answer the shell offers files. */
const scripts: Readonly<Record<string, string>> = {
  // Bash takes `=` for a word of its own. Works in bash 3.2 too, the version of macOS.
  bash: `# Completion of dwd in bash: source <(dwd completion bash)
_dwd() {
  local IFS=$'\\n'
  COMPREPLY=($(command dwd ${completeWord} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _dwd dwd
`,
  zsh: `#compdef dwd
# Completion of dwd in zsh: source <(dwd completion zsh), or as a file _dwd in a directory of $fpath
_dwd() {
  local -a found
  found=("\${(@f)$(command dwd ${completeWord} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z $found ]]; then
    compset -P '-*='
    _files
    return
  fi
  found=("\${(@)found//:/\\\\:}")
  found=("\${(@)found/$'\\t'/:}")
  _describe dwd found
}
if [[ $funcstack[1] == _dwd ]]; then _dwd "$@"; else compdef _dwd dwd; fi
`,
  fish: `# Completion of dwd in fish: dwd completion fish | source
function __dwd_complete
  set -l found (command dwd ${completeWord} (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c dwd -f -a '(__dwd_complete)'
`,
};

/** A word that may stand in a command line, and what it means. */
type Candidate = readonly [word: string, about: string];

const flagWords = ({ flags }: Command): readonly Candidate[] =>
  Object.entries(flags).flatMap(([name, { short, description, ignored }]) => {
    if (ignored === true) return [];
    return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])].map((word) => [word, description] as const);
  });

const candidatesOf = (command: Command, before: string, current: string): readonly Candidate[] => {
  const [, assigned, value] = /^(--[^=]+)=(.*)$/.exec(current) ?? [];
  const typed = assigned ?? before;
  const [, flag] =
    Object.entries(command.flags).find(([name, { short }]) => [`--${name}`, `-${short ?? ''}`].includes(typed)) ?? [];
  if (value !== undefined) return (flag?.type.words ?? []).map((word) => [`${typed}=${word}`, '']);
  if (flag !== undefined && flag.type.bare !== true) return (flag.type.words ?? []).map((word) => [word, '']);
  if (current.startsWith('-')) return [...flagWords(command), ['--help', 'Print this help']];
  const { operands } = command;
  return typeof operands === 'object' ? (operands.words ?? []).map((word) => [word, '']) : [];
};

/** Returns the words that may stand in place of the last one of these, which follow `dwd`, a line each. */
export const completions = (commands: readonly Command[], [name = '', ...rest]: readonly string[]): string => {
  const words = rest.filter((word, index) => word !== '=' || index === rest.length - 1);
  const current = words.at(-1)?.replace(/^=$/, '');
  const command = commands.find((known) => known.name === name || known.aliases?.includes(name));
  const candidates: readonly Candidate[] =
    current === undefined
      ? commands.flatMap((one) => [one.name, ...(one.aliases ?? [])].map((word) => [word, one.summary] as const))
      : command === undefined
        ? []
        : candidatesOf(command, words.at(-2) ?? '', current);
  return candidates
    .filter(([word]) => word.startsWith(current ?? name))
    .map((candidate) => `${candidate.join('\t')}\n`)
    .join('');
};

const description = `Prints a shell completion script for commands, flags and their values.

bash: source <(dwd completion bash). Put this line into ~/.bashrc to load it in every new shell.

zsh: source <(dwd completion zsh). Put this line into ~/.zshrc, after compinit.

fish: dwd completion fish > ~/.config/fish/completions/dwd.fish`;

export const completionCommand: Command = defineCommand({
  name: 'completion',
  summary: 'print a shell completion script',
  description,
  flags: {},
  operands: { name: 'SHELL', description: 'bash, zsh or fish', words: Object.keys(scripts) },
  async run({ operands: [shell = ''] }, io) {
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined) throw new UsageError(`SHELL is bash, zsh or fish; it was given ${JSON.stringify(shell)}`);
    io.stdout(script);
    return 0;
  },
});
