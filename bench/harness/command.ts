/** Parses a whole number of at least `least`; undefined if the flag is absent. Throws an error that names the flag and its value. */
export const count = (flag: string, text: string | undefined, least = 1): number | undefined => {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) {
    throw new Error(`--${flag} ${text}: not a whole number of at least ${String(least)}`);
  }
  return value;
};

/** Parses names separated by commas. Throws an error that names an unknown one. */
export const namesIn = <Name extends string>(flag: string, text: string, known: readonly Name[]): readonly Name[] =>
  text.split(',').map((name) => {
    const found = known.find((each) => each === name);
    if (found === undefined) throw new Error(`--${flag} ${name}: there are ${known.join(', ')}`);
    return found;
  });

export const say = (text: string): void => void process.stderr.write(`${text}\n`);
export const write = (text: string): void => void process.stdout.write(`${text}\n`);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs a script: `read` parses its command line, `main` returns its exit code. The processes that it started end with it. */
export const runCommand = async <Line>(
  usage: string,
  read: () => Line,
  main: (line: Line) => Promise<number>,
): Promise<void> => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  let line: Line;
  try {
    line = read();
  } catch (error) {
    say(`${messageOf(error)}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  process.exitCode = await main(line).catch((error: unknown) => {
    say(messageOf(error));
    return 1;
  });
};
