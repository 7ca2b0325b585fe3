import { describe, expect, it } from 'vitest';
import { proberConfig } from '../prober/config/config.ts';
import { hasErrors } from './rules/problem.ts';
import { minimal } from './testing/texts.ts';

const ours = 'dependency-watchdog.gardener.cloud/v1alpha1';

describe('apiVersion and kind of a configuration', () => {
  it('do not change the settings', () => {
    const typed = `apiVersion: ${ours}\nkind: ProberConfiguration\n${minimal}`;
    expect(proberConfig.load(typed, { unknownFields: 'error' }).settings).toEqual(
      proberConfig.load(minimal, { unknownFields: 'error' }).settings,
    );
  });

  it.each([
    ['another version', 'apiVersion: dependency-watchdog.gardener.cloud/v1', true],
    ["another component's kind", 'kind: CareConfiguration', true],
    // The Go program ignores both fields and runs with these.
    ['a foreign apiVersion', 'apiVersion: example.com/v1', false],
    ['a foreign kind', 'kind: Config', false],
  ])('%s is an error before use (%s); a running component refuses it: %j', (_, line, refused) => {
    const text = `${line}\n${minimal}`;
    expect(hasErrors(proberConfig.load(text, { unknownFields: 'error', purpose: 'ahead' }).problems)).toBe(true);
    const { settings, problems } = proberConfig.load(text, { unknownFields: 'warning' });
    expect(settings === undefined).toBe(refused);
    expect(problems.map(({ line: at, severity }) => ({ at, severity }))).toContainEqual({
      at: 1,
      severity: refused ? 'error' : 'warning',
    });
  });
});
