/** Words of a simple shell command, without redirections and variable assignments. */
export type ShellCommand = readonly string[];

const separators = /^(?:\|\|?|&&?|;|[<$]?\(|\))/;
const redirection = /^\d?(?:>>?|<)(?:&\d)?\s*(?:[^\s|&;()<>]+)?/;
const word = /^(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\$\{[^}]*\}|[^\s|&;()<>'"\\])+/;

/** Removes the text of heredocs, which contains no commands. */
const withoutHeredocs = (script: string): string =>
  script.replaceAll(/<<-?\s*(['"]?)(\w+)\1(.*)\n(?:.*\n)*?\s*\2$/gm, '$3');

const unquote = (text: string): string =>
  text.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g, (_, single: string, double: string, escaped: string) =>
    [single, double, escaped].filter(Boolean).join(''),
  );

const withoutVariables = (words: readonly string[]): ShellCommand => {
  const first = words.findIndex((one) => !/^\w+=/.test(one));
  return first === -1 ? [] : words.slice(first);
};

/** Parses the simple commands of a script, with the syntax that documents use: pipes, lists, quotes, comments, process substitution, heredocs. */
const commandsIn = (script: string): readonly ShellCommand[] => {
  const commands: string[][] = [[]];
  for (const line of withoutHeredocs(script)
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')) {
    let rest = line.trim();
    while (rest !== '' && !rest.startsWith('#')) {
      const [separator] = separators.exec(rest) ?? [];
      const [redirected] = redirection.exec(rest) ?? [];
      const [found = rest] = word.exec(rest) ?? [];
      if (separator !== undefined) commands.push([]);
      else if (redirected === undefined) commands.at(-1)?.push(unquote(found));
      rest = rest.slice((separator ?? redirected ?? found).length).trimStart();
    }
    commands.push([]);
  }
  return commands.map(withoutVariables).filter((command) => command.length > 0);
};

/** Arguments of each call of a program in a script. */
export const callsOf = (program: string, script: string): readonly ShellCommand[] =>
  commandsIn(script).flatMap(([name = '', ...args]) => (name.replace(/^.*\//, '') === program ? [args] : []));
