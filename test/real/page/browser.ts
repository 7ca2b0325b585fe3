import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { describeUnless } from '../../gate.ts';

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** Returns the path of a Chromium: `DWD_CHROMIUM`, or one on this machine. */
const findChromium = (): string | undefined =>
  process.env.DWD_CHROMIUM ||
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, name)))
    .find((path) => existsSync(path));

const remedy = 'no Chromium found; run `make browser`, or set DWD_CHROMIUM to the path of one';

/** `describe` for tests that need a browser. */
export const describeInBrowser = (name: string, tests: () => void): void =>
  describeUnless([findChromium() === undefined ? remedy : undefined], name, tests);

/** Flags that turn off the requests of a starting Chromium to Google's hosts, and the sandbox, which root cannot have. */
const args = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'],
];

/** Starts a headless Chromium. Rejects if none is installed. */
export const startBrowser = async (): Promise<Browser> => {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(remedy);
  return chromium.launch({ executablePath, args, headless: true });
};
