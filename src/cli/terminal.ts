/** What is used of Node's `tty.ReadStream`. */
export interface KeyStream {
  setRawMode(isRaw: boolean): unknown;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  pause(): unknown;
}

/** What is used of Node's `tty.WriteStream`. */
export interface ScreenStream {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
}

/** The terminal in which the program runs, with stdin and stdout. */
export interface HostTerminal {
  readonly keys: KeyStream;
  readonly screen: ScreenStream;
}

export interface TerminalListeners {
  /** What the keys send, Ctrl-C included: it is no signal while the screen is ours. */
  readonly onKeys: (input: string) => void;
  readonly onResize: () => void;
}

/** A terminal whose whole screen a command can have. */
export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  /** Takes the screen and the keys until `restore`. */
  take(listeners: TerminalListeners): void;
  /** Puts lines on the screen, from the top: as many as it has rows, none longer than it is wide. */
  draw(lines: readonly string[]): void;
  /** Gives the terminal back as it was; nothing where it was not taken. */
  restore(): void;
}

// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html: DECSET 1049 (alternate screen), 25 (cursor); CUP, EL.
const takeScreen = '\u001b[?1049h\u001b[?25l';
const giveScreenBack = '\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
/** To be sent before a line: after one that ends in the last column it would take that column's character. */
const clearLine = '\u001b[K';

/** A terminal that says nothing of its size. */
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
