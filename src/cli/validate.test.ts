import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dwd, dwdWith } from './testing/dwd.ts';

describe('dwd validate', () => {
  it.each([
    [['example.yaml', 'config.yaml'], 0, ''],
    [['odd.yaml'], 1, 'odd.yaml:7:1: typo: is an unknown field; known fields: '],
    [['manifest.yaml'], 1, 'manifest.yaml:10:5: data["config.yaml"].typo: is an unknown field; known fields: '],
    [
      ['wrong-kind.yaml'],
      1,
      'wrong-kind.yaml:5:38: dependentResourceInfos[0].ref.kind: deployment of apps/v1 is not served by any seed: use apiVersion: apps/v1 and kind: Deployment\n',
    ],
    [['warned.yaml'], 0, 'warned.yaml:1:1: kcmNodeMonitorGraceDuration: warning: is not set and defaults to 40s'],
    [['-'], 1, '-:1:1: dependentResourceInfos: is required: '],
    [['--', 'config.yaml'], 0, ''],
  ] as const)('%j exits with %i', async (names, code, start) => {
    const outcome = await dwd('validate', '--component', 'prober', ...names);
    expect({ code: outcome.code, stderr: outcome.stderr }).toEqual({ code, stderr: '' });
    expect(outcome.stdout.slice(0, start.length)).toBe(start);
    if (start === '') expect(outcome.stdout).toBe('');
  });

  it('does not keep a component from running with a kind that can never be scaled', async () => {
    const { code, started, stderr } = await dwd('prober', '--config-file=wrong-kind.yaml');
    expect(code).toBe(7);
    expect(started[0]?.settings.dependentResources).toHaveLength(1);
    expect(stderr).toContain('is not served by any seed');
  });

  it.each([
    [
      'kind-weeder.yaml',
      'kind-weeder.yaml:6:1: typo: is an unknown field; known fields: apiVersion, kind, watchDuration, ',
    ],
    [
      'kind-manifest.yaml',
      'kind-manifest.yaml:5:5: data["config.yaml"].typo: is an unknown field; known fields: apiVersion, kind, kubeConfigSecretName, ',
    ],
  ])('needs no --component where the file has a kind: %s', async (file, start) => {
    const { code, stdout, stderr } = await dwd('validate', file);
    expect({ code, stderr, start: stdout.slice(0, start.length) }).toEqual({ code: 1, stderr: '', start });
  });

  it('checks each configuration in a ConfigMap by its own kind, else by --component', async () => {
    const { code, stdout } = await dwd('validate', '--component=prober', 'two-manifest.yaml');
    expect({ code, problems: stdout.trimEnd().split('\n') }).toEqual({
      code: 1,
      problems: [expect.stringMatching(/^two-manifest\.yaml:\d+:5: data\.weeder\.typo: is an unknown field; /)],
    });
    const { stderr } = await dwd('validate', 'two-manifest.yaml');
    expect(stderr).toContain('flag --component is required for two-manifest.yaml, which has no kind; ');
  });

  it('continues after a bad file and after one that cannot be read', async () => {
    const { code, stdout, stderr } = await dwd(
      'validate',
      '-component=prober',
      'absent.yaml',
      'bad.yaml',
      'config.yaml',
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'dwd validate: cannot read absent.yaml: no such file or directory\n',
    });
    expect(stdout.match(/^bad\.yaml:\d+:\d+: /gm)).toHaveLength(2);
  });

  it('prints JSON and YAML', async () => {
    const files = ['absent.yaml', 'bad.yaml', 'warned.yaml', 'config.yaml'];
    const { code, stdout } = await dwd('validate', '--component=prober', '-o', 'json', ...files);
    expect(code).toBe(1);
    const problem = { line: 2, column: 16, path: 'probeInterval', severity: 'error' };
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        {
          file: 'absent.yaml',
          valid: false,
          error: 'cannot read absent.yaml: no such file or directory',
          problems: [],
        },
        { file: 'bad.yaml', valid: false, problems: [problem, { line: 6 }] },
        { file: 'warned.yaml', valid: true, problems: [{ severity: 'warning' }] },
        { file: 'config.yaml', valid: true, problems: [] },
      ],
    });
    const yaml = await dwd('validate', '--component=prober', '-oyaml', ...files);
    expect(parse(yaml.stdout)).toEqual(JSON.parse(stdout));
  });

  it('says in a terminal what is valid', async () => {
    const argv = ['validate', '--component=prober', 'config.yaml', 'bad.yaml', 'warned.yaml'];
    const { stderr } = await dwdWith(async () => 7, argv, { progress: () => undefined });
    expect(stderr).toBe('config.yaml: valid configuration of prober\nwarned.yaml: valid configuration of prober\n');
  });
});
