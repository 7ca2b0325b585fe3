import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { describe, it } from 'vitest';

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** Of a Chromium on this machine; `DWD_CHROMIUM` names another. */
const findChromium = (): string | undefined =>
  process.env.DWD_CHROMIUM ||
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, name)))
    .find((path) => existsSync(path));

const remedy = 'no Chromium found; run `make browser`, or set DWD_CHROMIUM to the path of one';

/** `describe` for tests that need a browser. Without one it skips them with one line in the output, or, when `CI` is set (and not `false`), fails. */
export const describeInBrowser = (name: string, tests: () => void): void => {
  const { CI = '' } = process.env;
  if (findChromium() !== undefined) describe(name, tests);
  else if (CI === '' || CI === 'false') {
    process.stderr.write(`${name}: skipped: ${remedy}\n`);
    describe.skip(name, tests);
  } else {
    describe(name, () => {
      it('has a browser', () => {
        throw new Error(remedy);
      });
    });
  }
};

/** What a start of Chromium asks Google's hosts for, and a sandbox that root cannot have. */
const args = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'],
];

/** A headless Chromium. Rejects where there is none. */
export const startBrowser = async (): Promise<Browser> => {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(remedy);
  return chromium.launch({ executablePath, args, headless: true });
};
