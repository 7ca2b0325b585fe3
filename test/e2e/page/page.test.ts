import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Origin } from '../../../src/page/feed/index.ts';
import type { ShootStatus } from '../../../src/status/state/schema.ts';
import { shootNamed } from '../../doubles/probed-shoots.ts';
import { describeInBrowser, startBrowser } from './browser.ts';
import { type ServedPage, servePage } from './served-page.ts';

// The built page in a real browser, with fictitious seeds.

const shots = fileURLToPath(new URL('../../../.cache/page/', import.meta.url));
let browser: Browser;
beforeAll(() => mkdirSync(shots, { recursive: true }));

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const serve = async (...given: Parameters<typeof servePage>): Promise<ServedPage> => {
  const served = await servePage(...given);
  cleanups.push(() => served.stop());
  return served;
};

/** Opens a tab at `url`. Errors and dialogs of the page fail the test. */
const visit = async (url: string, options: BrowserContextOptions = {}): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => problems.push(dialog.message()));
  cleanups.push(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });
  await page.goto(url);
  await page.getByRole('listbox').waitFor();
  return page;
};

const some = (count: number): readonly ShootStatus[] =>
  Array.from({ length: count }, (_, index) => shootNamed(`s${String(index)}`, index % 9 === 4 ? 'held' : 'healthy'));

describeInBrowser('the page in a browser', () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it('lists unhealthy shoots, finds others, and opens one with its evidence', async () => {
    const { url } = await serve(() => some(20));
    const page = await visit(url);
    expect(await page.getByRole('option').count()).toBe(20);
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect(await page.locator('.rest').innerText()).toBe('18 healthy, not listed');
    await page.getByLabel('Search').fill('s12');
    await page.getByText('dev/s12').waitFor();
    expect(await page.getByRole('option').count()).toBe(1);
    await page.getByLabel('Search').fill('');
    await page.getByRole('button', { name: '2 held' }).click();
    expect(await page.getByRole('option').count()).toBe(2);
    await page.getByRole('button', { name: 'dev/s13' }).click();
    const shoot = page.getByRole('complementary', { name: 'Shoot dev/s13' });
    await shoot.getByRole('region', { name: 'Leases' }).waitFor();
    expect(await shoot.locator('.leases li').count()).toBe(12);
    expect(await shoot.getByRole('region', { name: 'Scaling' }).innerText()).toContain(
      'done Deployment kube-controller-manager',
    );
    expect(await shoot.getByRole('region', { name: 'Decisions' }).getByRole('listitem').count()).toBe(12);
    expect(await shoot.innerText()).toContain('dwd release --shoot shoot--dev--s13');
    expect(page.url()).toBe(`${url}#shoot=shoot--dev--s13`);
  });

  it('shows an outage without protection, and a healthy shoot that is not protected', async () => {
    const ignored = [{ kind: 'Deployment', name: 'kube-controller-manager', isDown: false }];
    const { url } = await serve(() => [
      ...some(9),
      shootNamed('lost', 'losing nodes', { why: 'kcm is still up' }),
      shootNamed('twin', 'not protected', { ignored, why: 'ignore-scaling on kcm' }),
    ]);
    const page = await visit(url);
    expect(await page.locator('tbody th').allInnerTexts()).toEqual(['dev/lost', 'dev/twin', 'dev/s4']);
    expect(await page.locator('tbody tr', { hasText: 'dev/lost' }).innerText()).toContain('kcm is still up');
    expect(await page.locator('tbody tr', { hasText: 'dev/twin' }).innerText()).toContain('ignore-scaling on kcm');
    expect(await page.getByRole('option', { name: /dev\/lost: losing nodes, kcm is still up/ }).innerText()).toBe('✗');
    await page.getByRole('option', { name: /dev\/twin: not protected/ }).click();
    const shoot = page.getByRole('complementary', { name: 'Shoot dev/twin' });
    await shoot.getByText('ignore-scaling on kcm').waitFor();
    expect(await shoot.innerText()).toContain('annotate deployment/kube-controller-manager');
  });

  it("shows that a view is a standby's own, and why, until the leader's is available", async () => {
    const problem = 'The leader cannot be asked: connect ECONNREFUSED';
    let origin: Origin = { of: 'standby', problem };
    const { url } = await serve(() => some(3), { origin: () => origin });
    const page = await visit(url);
    const warnings = page.getByRole('list', { name: 'Warnings' });
    await warnings.getByText("This replica does not lead: the page shows its own view, not the leader's.").waitFor();
    expect(await warnings.innerText()).toContain(problem);
    expect(await page.locator('.facts dt').first().innerText()).toBe('replica');
    origin = { of: 'leader' };
    await page.locator('.facts dt', { hasText: 'leader' }).waitFor();
    expect(await warnings.getByRole('listitem').count()).toBe(0);
  });

  it('works by keyboard alone', async () => {
    const { url } = await serve(() => some(20));
    const page = await visit(url);
    const focused = (): Promise<string | null> =>
      page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? null,
      );
    await page.getByLabel('Search').focus();
    for (let stops = 0; stops < 3; stops += 1) await page.keyboard.press('Tab');
    expect(await focused()).toBe('dev/s0: healthy, 0/12 expired');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBe('dev/s1: healthy, 0/12 expired');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Shoot dev/s1' }).waitFor();
    expect(await focused()).toBe('dev/s1');
    while ((await focused())?.startsWith('Copy: ') === false) await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(await focused()).toBe('dev/s1: healthy, 0/12 expired');
  });

  it('shows text from objects as plain text', async () => {
    const name = '<img src=x onerror=alert(1)>';
    const shoots = [
      shootNamed(name, 'held', { reason: '<script>alert(2)</script>', namespace: `a'"><svg onload=alert(3)>` }),
    ];
    const { url } = await serve(() => shoots);
    const page = await visit(url);
    await page.getByRole('button', { name: `dev/${name}` }).click();
    await page.getByRole('region', { name: 'Leases' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).innerText()).toBe(`dev/${name}`);
    expect(await page.locator('img, svg, body script').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Commands' }).innerText()).toContain(
      String.raw`dwd release --shoot 'a'\''"><svg onload=alert(3)>'`,
    );
  });

  it('runs no script and contacts no server but its own', async () => {
    const { url } = await serve(() => some(1));
    const other = await serve(() => some(1));
    const page = await visit(url);
    const tried = await page.evaluate(async (elsewhere) => {
      const violations: string[] = [];
      const connectionReported = new Promise<void>((resolve) => {
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
          violations.push(effectiveDirective);
          if (effectiveDirective === 'connect-src') resolve();
        });
      });
      const attempt = (inject: () => void): void => {
        try {
          inject();
        } catch (error) {
          violations.push(String(error));
        }
      };
      const script = document.createElement('script');
      attempt(() => script.append('document.title = "injected"'));
      attempt(() => document.body.append(script));
      const element = document.createElement('p');
      attempt(() => element.setAttribute('onclick', 'document.title = "clicked"'));
      attempt(() => element.setAttribute('style', 'color: red'));
      attempt(() => {
        element.innerHTML = '<img src=x>';
      });
      document.body.append(element);
      element.click();
      const answer = await fetch(`${elsewhere}status`).then(
        () => 'answered',
        () => 'refused',
      );
      await connectionReported;
      return {
        title: document.title,
        inside: element.childElementCount,
        color: element.style.color,
        answer,
        violations,
      };
    }, other.url);
    expect(tried).toMatchObject({ title: 'dependency-watchdog', inside: 0, color: '', answer: 'refused' });
    expect(tried.violations.join()).toMatch(/require-trusted-types-for.*style-src-attr.*connect-src/);
  });

  it('runs no inline script', async () => {
    const { url } = await serve(() => some(1));
    const page = await visit(url);
    await page.route(url, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('</head>', '<script>document.title = "injected"</script></head>');
      await route.fulfill({ response, body });
    });
    await page.reload();
    await page.getByRole('listbox').waitFor();
    expect(await page.content()).toContain('document.title = "injected"');
    expect(await page.title()).toBe('dependency-watchdog');
  });

  it('marks its data as old while the server is unreachable, and continues afterwards', async () => {
    const shoots = some(5);
    const served = await servePage(() => shoots);
    const page = await visit(served.url);
    await page.getByText('Live', { exact: true }).waitFor();
    await served.stop();
    await page.getByText(/^Old: no response since \d\d:\d\d:\d\d\. Reconnecting\.$/).waitFor();
    await page.getByText(/^This data is \d+s old\.$/).waitFor();
    expect(await page.getByRole('option').count()).toBe(5);
    await serve(() => [...shoots, shootNamed('new')], { port: served.port });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('option', { name: 'dev/new: healthy' }).waitFor();
  });

  it('fits 360 px in dark mode', async () => {
    const { url } = await serve(() => some(40));
    const page = await visit(url, { viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
    const widthOf = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);
    const paper = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect([await widthOf(), await paper()]).toEqual([360, 'rgb(16, 22, 29)']);
    await page.screenshot({ path: `${shots}narrow-dark.png` });
    await page.getByRole('option', { name: 'dev/s4:' }).click();
    await page.getByRole('region', { name: 'Leases' }).waitFor();
    expect(await widthOf()).toBe(360);
    await page.screenshot({ path: `${shots}narrow-dark-shoot.png` });
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await paper()).toBe('rgb(255, 255, 255)');
  });

  it('shows 1,000 shoots on one screen, and stays smooth while they change', async () => {
    let turn = 0;
    const healthy = some(1_000);
    const { url } = await serve(() => {
      turn += 1;
      return healthy.map((shoot, index) => ({ ...shoot, expired: (index + turn) % 10 === 0 ? 3 : 0 }));
    });
    const page = await visit(url);
    const last = await page.getByRole('option').last().boundingBox();
    expect(await page.getByRole('option').count()).toBe(1_000);
    expect((last?.y ?? Number.NaN) + (last?.height ?? Number.NaN)).toBeLessThan(900);
    await page.screenshot({ path: `${shots}wide-1000.png` });
    const frames = await page.evaluate(
      () =>
        new Promise<readonly number[]>((resolve) => {
          const times: number[] = [];
          const onFrame = (now: number): void => {
            times.push(now);
            if (times.length <= 240) requestAnimationFrame(onFrame);
            else resolve(times.slice(1).map((time, index) => time - (times[index] ?? time)));
          };
          requestAnimationFrame(onFrame);
        }),
    );
    const sorted = frames.toSorted((a, b) => a - b);
    const at = (share: number): string =>
      `${(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(1)} ms`;
    process.stderr.write(
      `1,000 shoots, 100 of them change every second: frames of ${at(0.5)} (median), ${at(0.99)} (99 %), ${at(1)} (longest)\n`,
    );
    expect(frames).toHaveLength(240);
  });
});
