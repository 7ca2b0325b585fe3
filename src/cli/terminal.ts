/** A terminal whose keys a command can read one by one. Its output stays as it is: lines after lines. */
export interface Terminal {
  /** Width in characters. */
  columns(): number;
  /** Reads keys until `restore`. `onKeys` receives their input. This includes Ctrl-C, which causes no signal meanwhile. */
  listen(onKeys: (input: string) => void): void;
  /** Restores the terminal to its former state. Does nothing if nobody listens. */
  restore(): void;
}

/** Width of a terminal that does not report it. */
const usualColumns = 80;

export const createTerminal = (
  keys: Pick<NodeJS.ReadStream, 'setRawMode' | 'on' | 'pause'>,
  screen: Pick<NodeJS.WriteStream, 'columns'>,
): Terminal => {
  let listens = false;
  return {
    columns: () => screen.columns || usualColumns,
    listen: (onKeys) => {
      listens = true;
      const decoder = new TextDecoder();
      keys.setRawMode(true);
      keys.on('data', (chunk: Buffer) => {
        if (listens) onKeys(decoder.decode(chunk, { stream: true }));
      });
    },
    restore: () => {
      if (!listens) return;
      listens = false;
      keys.setRawMode(false);
      keys.pause();
    },
  };
};
