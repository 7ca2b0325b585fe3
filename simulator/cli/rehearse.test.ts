import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dwdWith } from '../../src/cli/testing/dwd.ts';
import type { Rehearsal } from '../rehearsal/result.ts';
import { runRehearse } from './rehearse.ts';

const small = ['--shoots=2', '--nodes=3'];
const dwd = (...argv: readonly string[]) => dwdWith(async () => 7, argv, { runRehearse });
const rehearse = (...flags: readonly string[]) => dwd('rehearse', ...flags);

describe('dwd rehearse', () => {
  it('reports that a configuration protects, and exits with 0', async () => {
    const { code, stdout, stderr, started } = await rehearse('--config-file=example.yaml', ...small);
    expect({ code, stderr, started }).toEqual({ code: 0, stderr: '', started: [] });
    expect(stdout).toMatch(/^Rehearsed: 2 shoots of 3 nodes; the load balancer of all shoots fails, from/);
    expect(stdout).toMatch(/\n {2}without protection +6 +0\n {2}with protection +0 +0\n/);
    expect(stdout).toMatch(/\nPROTECTED: no node was lost\n$/);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('reports that a configuration does not protect, and exits with 1', async () => {
    const { code, stdout } = await rehearse('--config-file=config.yaml', ...small, '--duration', '5m');
    expect(code).toBe(1);
    expect(stdout).toContain('\nFAILED: 6 nodes lost in spite of protection\n');
  });

  it('prints the same in JSON', async () => {
    const flags = ['--fault=shoot-lb', '--seed=5', '--output=json', '--kube-api-qps=0', '--kube-api-burst=30'];
    const { code, stdout } = await rehearse('--config-file=example.yaml', ...small, ...flags);
    expect(code).toBe(0);
    const rehearsal = JSON.parse(stdout) as Rehearsal;
    expect(rehearsal).toMatchObject({ fault: 'shoot-lb', seed: 5, shoots: 2, nodes: 3, threatened: 1 });
    expect(rehearsal.limits).toEqual({ qps: 5, burst: 30 });
  });

  it('prints the same in YAML, and under its former name `simulate`', async () => {
    const flags = ['--config-file=example.yaml', ...small, '--kube-api-qps=-1'];
    const { stdout } = await rehearse(...flags, '-o', 'yaml');
    expect(parse(stdout)).toEqual(JSON.parse((await dwd('simulate', ...flags, '--output=json')).stdout));
    expect((await rehearse(...flags)).stdout).toContain('no rate limit');
  });

  it('takes the source from the file: a seed without Clusters and Machines, and without an MCM unless the file lists it', async () => {
    const { code, stdout, stderr } = await rehearse('--config-file=secret.yaml', ...small, '--output=json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rehearsal = JSON.parse(stdout) as Rehearsal;
    expect(rehearsal).toMatchObject({ source: 'secret', threatened: 2, heldShoots: 2, unrestored: 0 });
    const labelled = await rehearse('--config-file=selector.yaml', ...small, '--output=json');
    expect(JSON.parse(labelled.stdout)).toMatchObject({
      source: 'secret',
      threatened: 2,
      heldShoots: 2,
      unrestored: 0,
    });
    const alone = await rehearse('--config-file=kcm-alone.yaml', ...small, '--duration=45m');
    expect(alone.code).toBe(0);
    expect(alone.stdout).toContain('(source secret, seed 1, ');
    expect(alone.stdout).toMatch(/\n {2}without protection +6 +0\n {2}with protection +0 +0\n/);
  });

  it('repeats the warnings about the file', async () => {
    const { stderr } = await rehearse('--config-file=warned.yaml', ...small, '--fault=none');
    expect(stderr).toMatch(/^warned\.yaml:1:1: kcmNodeMonitorGraceDuration: warning: is not set/);
  });

  it.each<readonly [readonly string[], number, string]>([
    [['--config-file=example.yaml', '--fault=fire'], 2, 'dwd rehearse: flag --fault takes lb, nat, shoot-lb, '],
    [['--config-file=example.yaml', '--duration=1m'], 2, 'dwd rehearse: --duration must be at least 3m: '],
    [['--config-file=example.yaml', '--nodes=100000'], 2, 'dwd rehearse: --shoots times --nodes must be at most'],
    [
      ['--config-file=nothing.yaml'],
      1,
      'dwd rehearse: cannot read --config-file nothing.yaml: no such file or directory',
    ],
    [
      ['--config-file=bad.yaml'],
      1,
      'dwd rehearse: the configuration is not valid\nbad.yaml:2:16: probeInterval: must be ',
    ],
    [
      ['--config-file=wrong-kind.yaml'],
      1,
      'dwd rehearse: the configuration is not valid\nwrong-kind.yaml:5:38: dependentResourceInfos[0].ref.kind: deployment of apps/v1 is ',
    ],
  ])('%j ends with %i', async (flags, expected, message) => {
    const { code, stdout, stderr } = await rehearse(...flags);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr.slice(0, message.length)).toBe(message);
  });
});
