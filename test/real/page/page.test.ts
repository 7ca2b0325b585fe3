import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ShootStatus } from '../../../src/status/state/schema.ts';
import { shootNamed } from '../../doubles/probed-shoots.ts';
import { describeInBrowser, startBrowser } from './browser.ts';
import { type ServedPage, servePage } from './served-page.ts';

// The built page in a real browser, with fictitious seeds.

let browser: Browser;

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
    expect(await page.locator('.row').count()).toBe(2);
    await page.getByLabel('Search').fill('s12');
    await page.getByText('dev/s12').waitFor();
    expect(await page.getByRole('option').count()).toBe(1);
    expect(await page.locator('.row').innerText()).toContain('0/12 expired');
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
    await shoot.getByText('12 decisions, the latest first').click();
    expect(await shoot.locator('.decisions li').count()).toBe(12);
    expect(await shoot.getByRole('region', { name: 'Commands' }).locator('code').allInnerTexts()).toEqual([
      'dwd explain shoot--dev--s13',
      'kubectl -n shoot--dev--s13 get deployments',
      'kubectl -n shoot--dev--s13 get events --sort-by=.lastTimestamp',
    ]);
    expect(page.url()).toBe(`${url}#shoot=shoot--dev--s13`);
  });

  it('says what is lost first, also in the title, and what a person does', async () => {
    const { url } = await serve(() => [
      ...some(9),
      shootNamed('lost', 'losing nodes', { why: 'kcm is still up', runbook: 'DwdOutageUnmet' }),
      shootNamed('twin', 'not protected', {
        why: 'ignore-scaling on kcm',
        do: 'to end that: kubectl -n shoot--dev--twin annotate deployment/kcm ignore-scaling-',
      }),
    ]);
    const page = await visit(url);
    const sentence = '1 of 11 shoots is losing nodes, 1 not protected, 1 held since';
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain(`seed aws-eu10 ${sentence}`);
    expect(await page.title()).toBe('(2!) aws-eu10');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/icon-alarm/);
    expect(await page.locator('.row .name').allInnerTexts()).toEqual(['dev/lost', 'dev/twin', 'dev/s4']);
    const row = (name: string) => page.locator('.row', { hasText: `dev/${name}` });
    expect(await row('lost').innerText()).toMatch(/LOSING NODES[^]*kcm is still up[^]*runbook DwdOutageUnmet/);
    expect(await row('twin').locator('code').innerText()).toMatch(/^kubectl -n shoot--dev--twin annotate/);
    expect(await page.getByRole('option', { name: /dev\/lost: LOSING NODES, kcm is still up/ }).innerText()).toBe('✗');
    await row('lost').getByText('kcm is still up').click();
    await page.getByRole('complementary', { name: 'Shoot dev/lost' }).waitFor();
  });

  it("says whose view it is, and how to reach the leader's", async () => {
    const { url } = await serve(() => some(3), { given: { leads: false } });
    const page = await visit(url);
    const warnings = page.getByRole('list', { name: 'Warnings' });
    const view = 'This is the view of dwd-prober-7c9d8-x2x4q, which does not lead; that of the leader is opened by';
    await warnings.getByText(view).waitFor();
    expect(await warnings.locator('code').innerText()).toBe('dwd page --namespace garden');
    expect(await page.locator('.dots').innerText()).toContain('hot standby dwd-prober-7c9d8-x2x4q');
  });

  it('works by keyboard alone', async () => {
    const shoots = some(20);
    const { url } = await serve(() => shoots);
    const page = await visit(url);
    const focused = (): Promise<string | null> =>
      page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? null,
      );
    await page.keyboard.press('/');
    expect(await focused()).toBe('Search');
    for (let stops = 0; stops < 3; stops += 1) await page.keyboard.press('Tab');
    expect(await focused()).toBe('dev/s0: healthy, 0/12 expired');
    for (const key of ['End', 'ArrowLeft', 'Home', 'ArrowDown', 'ArrowUp', 'ArrowRight']) {
      await page.keyboard.press(key);
    }
    expect(await focused()).toBe('dev/s1: healthy, 0/12 expired');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Shoot dev/s1' }).waitFor();
    expect(await focused()).toBe('dev/s1');
    while ((await focused())?.startsWith('Copy: ') === false) await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(await focused()).toBe('dev/s1: healthy, 0/12 expired');
    const [first = '', second = ''] = await page.locator('.row .name').allInnerTexts();
    for (const problem of [first, second, first]) {
      await page.keyboard.press('n');
      await page.getByRole('complementary', { name: `Shoot ${problem}` }).waitFor();
    }
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
    expect(await page.locator('aside h2').innerText()).toBe(`dev/${name}`);
    expect(await page.locator('img, [onload], [onerror], body script').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Commands' }).innerText()).toContain(
      String.raw`dwd explain 'a'\''"><svg onload=alert(3)>'`,
    );
  });

  it('marks its data as old while the server is unreachable, and continues afterwards', async () => {
    const shoots = some(5);
    const served = await servePage(() => shoots);
    const page = await visit(served.url);
    await page.getByText('live', { exact: true }).waitFor();
    await served.stop();
    await page.getByText(/^old: no answer for \d+s$/).waitFor();
    expect(await page.title()).toBe('(?) aws-eu10');
    expect(await page.getByRole('option').count()).toBe(5);
    await serve(() => [...shoots, shootNamed('new')], { port: served.port });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('option', { name: 'dev/new: healthy' }).waitFor();
  });

  it('shows 1,000 shoots on one screen', async () => {
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
  });
});
