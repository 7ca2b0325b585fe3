import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { endDemos, startDemo, until } from '../support/demo.ts';
import { describeInBrowser, startBrowser } from './browser.ts';

// The built program, its world and its page: a browser starts, watches and ends an outage.

const shot = fileURLToPath(new URL('../../../.cache/page/demo.png', import.meta.url));

/** Only a hang exceeds it. */
const patienceMs = 300_000;

describeInBrowser('dwd demo --page', () => {
  let browser: Browser;
  let url = '';
  const pages: Page[] = [];
  beforeAll(async () => {
    browser = await startBrowser();
    const show = startDemo('--page=127.0.0.1:0');
    await until(() => show.output().includes('the page: http'), 'the page is served');
    url = /http:\S+/.exec(show.output())?.[0] ?? '';
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
  });
  afterAll(async () => {
    await browser.close();
    await endDemos();
  });

  const visit = async (): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1120, height: 720 } });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    pages.push(page);
    await page.goto(url);
    await page
      .getByRole('option', { name: /: healthy/ })
      .first()
      .waitFor();
    return page;
  };

  it(
    'cuts a shoot off, shows its protection, and connects it again, by mouse',
    async () => {
      const page = await visit();
      const alpha = (state: string) => page.getByRole('option', { name: new RegExp(`^sim/alpha: ${state}`, 'i') });
      // Open from the start, with its buttons in sight.
      const cut = page.getByRole('button', { name: 'Cut its kubelets off' });
      expect(await cut.evaluate((button) => button.getBoundingClientRect().bottom < innerHeight)).toBe(true);
      await cut.click();
      await alpha('held').waitFor();
      const shoot = page.getByRole('complementary', { name: 'Shoot sim/alpha' });
      await shoot.getByText('Deployment kube-controller-manager, to be restored to 2').waitFor();
      expect(await shoot.locator('.leases li').count()).toBe(5);
      await shoot.locator('.steps b', { hasText: 'confirmed' }).first().waitFor();
      await page.screenshot({ path: shot });
      const row = page.locator('.row', { hasText: 'sim/alpha' });
      await row.getByText('restored when its nodes renew').waitFor();
      await page
        .getByRole('region', { name: 'The last hour' })
        .getByText(/scaled down \d+s before KCM's grace period/)
        .waitFor();
      await page.getByRole('button', { name: 'Connect its kubelets' }).click();
      await alpha('healthy').waitFor();
      await row.waitFor({ state: 'detached' });
      await shoot.getByRole('region', { name: 'Held' }).waitFor({ state: 'detached' });
    },
    3 * patienceMs,
  );

  it('accepts faults only from its own page', async () => {
    const post = (headers: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${url}demo/faults`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ namespace: 'shoot--sim--charlie', kind: 'cut kubelets' }),
      });
    expect((await post({})).status).toBe(403);
    expect((await post({ Origin: 'http://evil.example' })).status).toBe(403);
    expect((await post({ Origin: url.replace(/\/$/, '') })).status).toBe(200);
  });
});
