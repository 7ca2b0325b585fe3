import { describe, expect, it } from 'vitest';
import { dwd, logLines } from './testing/dwd.ts';

describe('dwd weeder', () => {
  it('passes its settings to the component and returns its exit code', async () => {
    const { code, stdout, stderr, weeders, started } = await dwd('weeder', '--config-file=weeder.yaml', '--dry-run');
    expect({ code, stdout, probers: started.length }).toEqual({ code: 7, stdout: '', probers: 0 });
    const [{ settings, flags, load }] = weeders as [(typeof weeders)[number]];
    expect(settings).toEqual({
      watchDurationMs: 300_000,
      services: [
        { name: 'etcd-main-client', podSelectors: [{ matchLabels: { role: 'apiserver' }, matchExpressions: [] }] },
      ],
    });
    expect(flags.dryRun).toBe(true);
    expect(load('watchDuration: 1').settings).toBeUndefined();
    expect(logLines(stderr)).toMatchObject([
      { msg: 'starting the weeder', configuration: { watchDurationMs: 300_000 } },
      { msg: expect.stringMatching(/^dry run/) as string },
    ]);
  });

  it('logs its whole configuration, including selectors with labels such as token and secret', async () => {
    const { stderr, weeders } = await dwd('weeder', '--config-file=selectors.yaml');
    expect(logLines(stderr)).toMatchObject([{ msg: 'starting the weeder', configuration: weeders[0]!.settings }]);
    expect(JSON.stringify(weeders[0]!.settings)).toMatch(
      /"token".*"secret".*"gardener.cloud\/role".*"token-requestor"/,
    );
  });
});
