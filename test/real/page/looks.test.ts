import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { PageView } from '../../../src/page/feed/index.ts';
import { titleOf } from '../../../src/status/state/find-shoot.ts';
import { needsEyes, stateInWords } from '../../../src/status/state/judge-seed.ts';
import { at, before } from '../../../src/status/state/testing/facts.ts';
import { describeInBrowser, startBrowser } from './browser.ts';
import { type SeedName, samples, seeds, withLeases } from './seeds.ts';
import { type ServedPage, servePage } from './served-page.ts';

// What the built page looks like, on wide and narrow screens, light and dark. The pictures are in .cache/page.

const shots = fileURLToPath(new URL('../../../.cache/page/', import.meta.url));
const schemes = ['light', 'dark'] as const;

let browser: Browser;
let served: ServedPage | undefined;
let page: Page | undefined;

const given = { at, leadsSince: before(3_720), lastRoundEndedAt: before(3) };

/** Opens the page of a seed, and a shoot of it. */
const visit = async (name: SeedName, { width = 1_440, shoot = '' } = {}): Promise<Page> => {
  served = await servePage(() => seeds[name], { given });
  page = await browser.newPage({ viewport: { width, height: width === 360 ? 740 : 900 } });
  // The hour that a server would need to take its samples.
  await page.route('**/view*', async (route) => {
    const response = await route.fetch();
    const view = (await response.json()) as PageView;
    const open = view.shoot && withLeases(view.shoot);
    await route.fulfill({ json: { ...view, shoot: open, samples: name === 'calm' ? [] : samples } });
  });
  await page.goto(`${served.url}${shoot === '' ? '' : `#shoot=${shoot}`}`);
  await page.getByRole('listbox').waitFor();
  if (shoot !== '') await page.getByRole('region', { name: 'Leases' }).waitFor();
  return page;
};

/** Returns the texts whose colour has a contrast below 4.5:1 to what is behind them, each with the contrast. */
const faintTexts = (on: Page): Promise<readonly string[]> =>
  on.evaluate(() => {
    type Rgb = readonly number[];
    const parse = (text: string): Rgb => {
      const parts = (text.match(/[\d.]+/g) ?? []).map(Number);
      // `color(srgb 0.5 0 1)` is a mixed colour.
      return text.startsWith('color(') ? parts.map((part, index) => (index < 3 ? part * 255 : part)) : parts;
    };
    const isSeen = ([, , , alpha = 1]: Rgb): boolean => alpha > 0;
    const behind = (element: Element | null): readonly Rgb[] => {
      if (element === null) return [[255, 255, 255]];
      const { backgroundColor, backgroundImage } = getComputedStyle(element);
      const tints = [...backgroundImage.matchAll(/rgba?\([^)]*\)/g)].map(([colour]) => parse(colour));
      if (tints.length > 0) return tints;
      const colour = parse(backgroundColor);
      return isSeen(colour) ? [colour] : behind(element.parentElement);
    };
    const luminance = (colour: Rgb): number => {
      const [red = 0, green = 0, blue = 0] = colour
        .map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (a: Rgb, b: Rgb): number => {
      const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
      return (light + 0.05) / (dark + 0.05);
    };
    const hasText = (element: Element): boolean =>
      [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== '');
    return [...document.body.querySelectorAll('*')].filter(hasText).flatMap((element) => {
      const colour = parse(getComputedStyle(element).color);
      const least = Math.min(...behind(element).map((other) => contrast(colour, other)));
      return least >= 4.5 ? [] : [`${least.toFixed(2)} ${element.className} ${element.textContent.slice(0, 30)}`];
    });
  });

/** Height of what comes before the first row. */
const heightBeforeRows = async (on: Page): Promise<number> =>
  (await on.locator('.row').first().boundingBox())?.y ?? Number.NaN;

const widthOf = (on: Page): Promise<number> => on.evaluate(() => document.documentElement.scrollWidth);

describeInBrowser('the look of the page', () => {
  beforeAll(async () => {
    mkdirSync(shots, { recursive: true });
    browser = await startBrowser();
  });
  afterEach(async () => {
    await page?.unrouteAll({ behavior: 'ignoreErrors' });
    await page?.close();
    await served?.stop();
  });
  afterAll(() => browser.close());

  const widths = [1_440, 1_100, 360];

  it.each<[SeedName, string]>([
    ['calm', ''],
    ['wrong', ''],
    ['mass', 'shoot--fin--m0'],
    ['held', 'shoot--dev--one'],
    ['excused', 'shoot--dev--excused'],
    ['every', ''],
    ['every', 'shoot--the-longest-project--production-eu-central-1-blue'],
  ])('of %s, open: %s, fits, and can be read in both schemes', async (name, shoot) => {
    const on = await visit(name, { shoot });
    for (const width of widths) {
      await on.setViewportSize({ width, height: 900 });
      for (const colorScheme of schemes) {
        await on.emulateMedia({ colorScheme });
        const file = `${name}-${String(width)}${shoot === '' ? '' : '-shoot'}-${colorScheme}.png`;
        await on.screenshot({ path: `${shots}${file}`, fullPage: true });
        expect([await faintTexts(on), await widthOf(on)]).toEqual([[], width]);
      }
    }
  });

  it('says of every shoot what all other views say', async () => {
    const on = await visit('every');
    const rows = await on.locator('.row').allInnerTexts();
    for (const shoot of seeds.every.filter(needsEyes)) {
      const row = rows.find((text) => text.includes(titleOf(shoot))) ?? '';
      expect(row).toContain(stateInWords(shoot));
      expect(row).toContain(shoot.why);
      expect(row).toContain(shoot.next.text);
      expect(row.replaceAll(/\s+(?:Copy)?\s*/g, ' ')).toContain(shoot.do);
    }
  });

  it('leaves two thirds of a phone to the rows', async () => {
    const on = await visit('mass', { width: 360 });
    await on.emulateMedia({ colorScheme: 'dark' });
    await on.screenshot({ path: `${shots}phone.png` });
    expect(await heightBeforeRows(on)).toBeLessThan(740 / 3);
  });
});
