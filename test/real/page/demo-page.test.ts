import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { showDemo } from '../support/demo.ts';
import { describeInBrowser, startBrowser } from './browser.ts';

// The built program, its world and its page: a browser starts, watches and ends an outage.

const shot = fileURLToPath(new URL('../../../.cache/page/demo.png', import.meta.url));

/** Only a hang exceeds it. */
const patienceMs = 300_000;

describeInBrowser('dwd demo --page', () => {
  it(
    'cuts a shoot off, shows its protection, and connects it again, by mouse',
    async () => {
      const show = showDemo(['--page=127.0.0.1:0']);
      await show.untilShown('the page: http');
      const browser = await startBrowser();
      onTestFinished(() => browser.close());
      const page = await browser.newPage({ viewport: { width: 1120, height: 720 } });
      page.setDefaultTimeout(patienceMs);
      await page.goto(/http:\S+/.exec(show.output())?.[0] ?? '');
      const healthy = page.getByRole('option', { name: /: healthy/ });
      await healthy.first().waitFor();
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
});
