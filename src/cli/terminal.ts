/** The members of Node's `tty.ReadStream` that are used. */
export interface KeyStream {
  setRawMode(isRaw: boolean): unknown;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  pause(): unknown;
}

/** The members of Node's `tty.WriteStream` that are used. */
export interface ScreenStream {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
}

/** The terminal of stdin and stdout. */
export interface HostTerminal {
  readonly keys: KeyStream;
  readonly screen: ScreenStream;
}

export interface TerminalListeners {
  /** Receives the input of the keys. This includes Ctrl-C, which causes no signal while the screen is taken. */
  readonly onKeys: (input: string) => void;
  readonly onResize: () => void;
}

/** A terminal whose whole screen a command can take over. */
export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  /** Takes over the screen and the keys until `restore`. */
  take(listeners: TerminalListeners): void;
  /** Draws lines from the top of the screen. There must be as many as the screen has rows, none longer than its width. */
  draw(lines: readonly string[]): void;
  /** Restores the terminal to its former state. Does nothing if the terminal is not taken. */
  restore(): void;
}

// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html: DECSET 1049 (alternate screen), 25 (cursor); CUP, EL.
const takeScreen = '\u001b[?1049h\u001b[?25l';
const giveScreenBack = '\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
/** Must precede a line: after a line that fills the last column it would erase the character in that column. */
const clearLine = '\u001b[K';

/** Size of a terminal that does not report its size. */
const usual = { columns: 80, rows: 24 };

export const createTerminal = ({ keys, screen }: HostTerminal): Terminal => {
  let isTaken = false;
  return {
    size: () => ({ columns: screen.columns || usual.columns, rows: screen.rows || usual.rows }),
    take: ({ onKeys, onResize }) => {
      isTaken = true;
      const decoder = new TextDecoder();
      keys.setRawMode(true);
      keys.on('data', (chunk) => {
        if (isTaken) onKeys(decoder.decode(chunk, { stream: true }));
      });
      screen.on('resize', () => {
        if (isTaken) onResize();
      });
      screen.write(takeScreen);
    },
    draw: (lines) => {
      if (isTaken) screen.write(`${home}${lines.map((line) => `${clearLine}${line}`).join('\r\n')}`);
    },
    restore: () => {
      if (!isTaken) return;
      isTaken = false;
      screen.write(giveScreenBack);
      keys.setRawMode(false);
      keys.pause();
    },
  };
};
