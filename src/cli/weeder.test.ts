import { expect, it } from 'vitest';
import { dwd, logLines } from './testing/dwd.ts';

it('dwd weeder logs its whole configuration, including selectors with labels such as token and secret', async () => {
  const { stderr, weeders } = await dwd('weeder', '--config-file=selectors.yaml');
  expect(logLines(stderr)).toMatchObject([{ msg: 'starting the weeder', configuration: weeders[0]!.settings }]);
  expect(JSON.stringify(weeders[0]!.settings)).toMatch(/"token".*"secret".*"gardener.cloud\/role".*"token-requestor"/);
});
