import { describe, expect, it } from 'vitest';
import { type TemplateContainer, decodeTemplateContainers, kcmGraceOf } from './kube-controller-manager.ts';

const image = 'registry.k8s.io/kube-controller-manager:v1.31.2';
const container = (commandLine: readonly string[], of = image): TemplateContainer => ({ image: of, commandLine });
const deployment = (containers: unknown) => ({ spec: { template: { spec: { containers } } } });

it('the containers of a pod template have command and args as one command line', () => {
  const object = deployment([
    { name: 'kcm', image, command: ['/kube-controller-manager'], args: ['--leader-elect=true'] },
    { name: 'sidecar' },
  ]);
  expect(decodeTemplateContainers(object, 'item')).toEqual([
    { image, commandLine: ['/kube-controller-manager', '--leader-elect=true'] },
    { image: '', commandLine: [] },
  ]);
});

describe('the grace period of a KCM', () => {
  it.each([
    ['--flag=value', ['/kcm', '--node-monitor-grace-period=2m0s'], 120_000],
    ['--flag value', ['/kcm', '--node-monitor-grace-period', '30s'], 30_000],
    ['underscores', ['/kcm', '--node_monitor_grace_period=30s'], 30_000],
    ['the last of two', ['/kcm', '--node-monitor-grace-period=30s', '--node-monitor-grace-period', '20s'], 20_000],
    [
      'a wrapper of the program',
      ['/go-runner', '--log-file=/kcm.log', '/usr/bin/kube-controller-manager', '--node-monitor-grace-period=9s'],
      9_000,
    ],
  ])('is read from %s', (_, commandLine, ms) => {
    expect(kcmGraceOf([container(['/proxy', '--v=2']), container(commandLine)])).toEqual({ kind: 'set', ms });
  });

  it.each([
    ['registry.k8s.io/kube-controller-manager:v1.31.9', '', 40_000, 'v1.31.9'],
    ['registry.k8s.io/kube-controller-manager:v1.32.0', '', 50_000, 'v1.32.0'],
    ['localhost:5000/kcm:1.33.1-gardener.2@sha256:abc', '1.20.0', 50_000, '1.33.1-gardener.2'],
    ['localhost:5000/kcm@sha256:abc', '1.31.4', 40_000, '1.31.4'],
    ['localhost:5000/kcm', '1.32.1', 50_000, '1.32.1'],
    ['kcm:latest', '1.9', 40_000, '1.9'],
  ])('is the default of the version of the image %s, in a shoot of version %j', (of, version, ms, from) => {
    const containers = [container(['--v=2'], 'sidecar:v1.1.0'), container(['/usr/bin/kube-controller-manager'], of)];
    expect(kcmGraceOf(containers, version)).toEqual({ kind: 'default', ms, version: from });
  });

  it.each([
    ['arguments alone, by the image', ['--v=2'], image],
    ['no arguments, by the image', [], 'k8s.gcr.io/kube-controller-manager-amd64:v1.31.2'],
    ['a wrapper', ['/go-runner', '--', '/usr/bin/kube-controller-manager', '--v=2'], 'go-runner:v1.31.2'],
  ])('is the default with %s', (_, commandLine, of) => {
    expect(kcmGraceOf([container(commandLine, of)])).toEqual({ kind: 'default', ms: 40_000, version: 'v1.31.2' });
  });

  it.each([
    [['/kube-controller-manager', '--node-monitor-grace-period=0'], 'is "0", which is no duration'],
    [['/kube-controller-manager', '--node-monitor-grace-period=$(GRACE)'], 'is "$(GRACE)", which is no duration'],
    [['/kube-controller-manager', '--v=2'], 'its version, which has the default, is unknown'],
    ...[
      ['/kube-controller-manager', '$(GRACE_FLAG)'],
      ['/kube-controller-manager', '--openshift-config=/etc/config.yaml'],
      ['k3s', 'server', '--disable=traefik'],
      ['k3s', 'server', '--kube-controller-manager-arg=node-monitor-grace-period=16s'],
      ['/bin/bash', '/start.sh'],
      ['sh', '-c', 'exec kube-controller-manager --node-monitor-grace-period=9s'],
    ].map((words): [string[], string] => [words, 'a script, a variable or a configuration file may set']),
  ])('is unknown with %j', (commandLine, problem) => {
    const grace = kcmGraceOf([container(commandLine, 'kcm:latest')]);
    expect(grace).toEqual({ kind: 'unknown', problem: expect.stringContaining(problem) as string });
  });

  it('is unknown if several containers may run KCM, or there is no container', () => {
    const problem = 'none of its containers runs kube-controller-manager';
    for (const containers of [[], [container(['/a']), container(['/b'])]]) {
      expect(kcmGraceOf(containers, '1.33.0')).toEqual({ kind: 'unknown', problem });
    }
  });
});
