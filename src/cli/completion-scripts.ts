import type { Command } from './command.ts';
import type { Flag } from './parse-flags.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

interface NamedFlag extends Flag<unknown> {
  readonly name: string;
}

/** Returns the flags that have an effect. */
const flagsOf = ({ flags }: Command): readonly NamedFlag[] =>
  Object.entries(flags)
    .map(([name, flag]) => ({ ...flag, name }))
    .filter(({ ignored }) => ignored !== true);

const namesOf = ({ name, aliases = [] }: Command): readonly string[] => [name, ...aliases];

const wordsOf = ({ name, short }: NamedFlag): readonly string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
];

const takesPath = ({ type }: Flag<unknown>): boolean => ['path', 'directory'].includes(type.placeholder);

/** Returns the words that may follow the flags; undefined if files follow. */
const operandWords = ({ operands }: Command): readonly string[] | undefined =>
  operands === undefined || operands === 'ignored' ? [] : operands.words;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const bashCase = (command: Command): string => {
  const names = namesOf(command);
  const flags = flagsOf(command);
  const values = flags
    .filter(({ type }) => type.bare !== true)
    .map((flag) => {
      const patterns = wordsOf(flag).flatMap((word) => names.map((name) => `${name}:${word}`));
      return `    ${patterns.join('|')}) words=${quoted((flag.type.words ?? []).join(' '))} ;;`;
    });
  const operands = operandWords(command);
  const all = [...flags.flatMap(wordsOf), '--help'].join(' ');
  const isOperand = `    ${names.map((name) => `${name}:*`).join('|')}) if [[ $cur != -* ]]; then`;
  return [...values, `${isOperand} words=${quoted((operands ?? []).join(' '))}; else words=${quoted(all)}; fi ;;`].join(
    '\n',
  );
};

// Bash treats `=` as a separate word. If no word matches, `-o default` offers files. Works in bash 3.2 too, the version of macOS.
const bash = (commands: readonly Command[]): string => `# Completion of dwd in bash: source <(dwd completion bash)
_dwd() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words=
  if [[ $cur == = ]]; then cur=
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=($(compgen -W ${quoted([...commands.flatMap(namesOf), '--help', '--version'].join(' '))} -- "$cur"))
    return
  fi
  case \${COMP_WORDS[1]}:$prev in
${commands.map(bashCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _dwd dwd
`;

/** Escapes text for `_arguments` of zshcompsys(1). */
const zshText = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');

const zshValue = (flag: NamedFlag): string => {
  const { type } = flag;
  if (type.bare === true) return '';
  const action = type.words === undefined ? (takesPath(flag) ? '_files' : ' ') : `(${type.words.join(' ')})`;
  return `:${zshText(type.placeholder)}:${action}`;
};

const zshFlag = (flag: NamedFlag): readonly string[] =>
  wordsOf(flag).map((word) => {
    const ending = flag.type.bare === true ? '' : word.startsWith('--') ? '=' : '+';
    // A flag is offered only once.
    return quoted(`(${wordsOf(flag).join(' ')})${word}${ending}[${zshText(flag.description)}]${zshValue(flag)}`);
  });

const zshCase = (command: Command): string => {
  const operands = operandWords(command);
  const rest =
    operands === undefined ? ["'*:file:_files'"] : operands.length === 0 ? [] : [`'1:word:(${operands.join(' ')})'`];
  const specs = [...flagsOf(command).flatMap(zshFlag), "'(- *)--help[Print this help]'", ...rest];
  return `    ${namesOf(command).join('|')}) _arguments ${specs.join(' \\\n      ')} ;;`;
};

const zsh = (commands: readonly Command[]): string => `#compdef dwd
# Completion of dwd in zsh: source <(dwd completion zsh), or as a file _dwd in a directory of $fpath
_dwd() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${zshText(summary)}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
${commands.map(zshCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _dwd ]]; then _dwd "$@"; else compdef _dwd dwd; fi
`;

const fishText = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;

const fishCommand = (command: Command): readonly string[] => {
  const { name, summary } = command;
  const seen = `complete -c dwd -n ${fishText(`__fish_seen_subcommand_from ${namesOf(command).join(' ')}`)}`;
  const operands = operandWords(command);
  return [
    `complete -c dwd -n __fish_use_subcommand -a ${name} -d ${fishText(summary)}`,
    ...(operands === undefined
      ? [`${seen} -F`]
      : operands.length === 0
        ? []
        : [`${seen} -a ${fishText(operands.join(' '))}`]),
    ...flagsOf(command).map((flag) => {
      const { type, short, description } = flag;
      const words = type.words === undefined ? '' : ` -a ${fishText(type.words.join(' '))}`;
      const value = type.bare === true ? '' : takesPath(flag) ? ' -r -F' : ` -x${words}`;
      return `${seen}${short === undefined ? '' : ` -s ${short}`} -l ${flag.name}${value} -d ${fishText(description)}`;
    }),
  ];
};

const fish = (commands: readonly Command[]): string =>
  [
    '# Completion of dwd in fish: dwd completion fish | source',
    'complete -c dwd -f',
    ...commands.flatMap(fishCommand),
    '',
  ].join('\n');

/** Generators of the scripts that complete command lines of `dwd`, by shell. The input is the definitions of all commands. */
export const completionScripts: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = { bash, zsh, fish };
