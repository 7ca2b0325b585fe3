import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../config/rules/problem.ts';
import { gardenletConfig, minimal } from '../../config/testing/texts.ts';
import { proberConfig } from './config.ts';

const running = { unknownFields: 'warning' } as const;

const load = (text: string) => {
  const { settings, problems } = proberConfig.load(text, running);
  if (settings === undefined) throw new Error(problems.map((problem) => formatProblem('config', problem)).join('\n'));
  return { settings, problems };
};

const deployment = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });

describe('proberConfig.load', () => {
  it('reads what Gardener writes', () => {
    const { settings, problems } = load(gardenletConfig('prober'));
    expect(problems).toMatchObject([{ path: 'kcmNodeMonitorGraceDuration', severity: 'warning' }]);
    expect(settings.probeIntervalMs).toBe(30_000);
    const at = (level: number, initialDelayMs = 0) => ({ level, initialDelayMs, timeoutMs: 30_000 });
    expect(settings.dependentResources).toEqual([
      { ref: deployment('kube-controller-manager'), optional: false, scaleUp: at(0), scaleDown: at(1) },
      { ref: deployment('machine-controller-manager'), optional: false, scaleUp: at(1, 30_000), scaleDown: at(0) },
      { ref: deployment('cluster-autoscaler'), optional: true, scaleUp: at(2), scaleDown: at(0) },
    ]);
  });

  it('fills in the defaults', () => {
    expect(load(minimal).settings).toEqual({
      kubeConfigSecretName: 'probe',
      probeIntervalMs: 10_000,
      initialDelayMs: 30_000,
      probeTimeoutMs: 30_000,
      backoffJitterFactor: 0.2,
      nodeMonitorGraceMs: 40_000,
      nodeLeaseFailureFraction: 0.6,
      landingTimeoutMs: 60_000,
      dependentResources: [
        {
          ref: deployment('kube-controller-manager'),
          optional: false,
          scaleUp: { level: 0, initialDelayMs: 0, timeoutMs: 30_000 },
        },
      ],
    });
  });

  const outside = {
    kubeConfigSecretName: 'outside',
    timeoutMs: 5_000,
    failureThreshold: 3,
    successThreshold: 1,
    mode: 'observe',
  };

  it.each([
    ['initialDelay: 0', { initialDelayMs: 0 }],
    ['probeInterval: 1m30s', { probeIntervalMs: 90_000 }],
    ['probeInterval: 0.5s', { probeIntervalMs: 500 }],
    ['backoffJitterFactor: 0', { backoffJitterFactor: 0 }],
    ['nodeLeaseFailureFraction: 1', { nodeLeaseFailureFraction: 1 }],
    ['nodeLeaseFailureFraction: 1e-9', { nodeLeaseFailureFraction: 1e-9 }],
    ['kcmNodeMonitorGraceDuration: 2m', { nodeMonitorGraceMs: 120_000 }],
    ['probeTimeout: ~', { probeTimeoutMs: 30_000 }],
    ['externalProbe: null', {}],
    ['externalProbe: {kubeConfigSecretName: outside}', { externalProbe: outside }],
    [
      'externalProbe: {kubeConfigSecretName: outside, timeout: 2s, failureThreshold: 5, successThreshold: 2, mode: trigger}',
      { externalProbe: { ...outside, timeoutMs: 2_000, failureThreshold: 5, successThreshold: 2, mode: 'trigger' } },
    ],
    ['PROBEINTERVAL: 7s\nprobeInterval: 8s', { probeIntervalMs: 8_000 }],
    ['probeInterval: 8s\nPROBEINTERVAL: 7s', { probeIntervalMs: 8_000 }],
    ['failureThreshold: 3', {}],
    ['__proto__: {probeInterval: 7s}', { probeIntervalMs: 10_000 }],
    ['---', {}],
  ])('reads %s as the Go program does', (line, expected) => {
    expect(load(`${minimal}${line}\n`).settings).toMatchObject(expected);
  });

  it.each([
    ['yes', true],
    ['On', true],
    ['OFF', false],
    ['n', false],
    ['~', false],
  ])('reads optional: %s as %s, like YAML 1.1', (word, optional) => {
    const { settings } = load(`${minimal}    optional: ${word}\n`);
    expect(settings.dependentResources[0]?.optional).toBe(optional);
  });

  it('warns about unknown fields when the prober runs', () => {
    const { problems } = load(`${minimal}kcmNodeMonitorGraceDuration: 40s\nsuccessThreshold: 1\nProbeInterval: 5s\n`);
    expect(problems.map(({ path, severity }) => `${severity} ${path}`)).toEqual([
      'warning successThreshold',
      'warning ProbeInterval',
    ]);
  });

  it('reads JSON, a byte order mark and CRLF', () => {
    const json = JSON.stringify({
      kubeConfigSecretName: 'probe',
      dependentResourceInfos: [{ ref: deployment('kube-controller-manager'), scaleUp: { level: 0 } }],
    });
    for (const text of [json, `\ufeff${minimal}`, minimal.replaceAll('\n', '\r\n')]) {
      expect(load(text).settings).toEqual(load(minimal).settings);
    }
  });

  it('freezes the settings to the last leaf', () => {
    const { settings } = load(gardenletConfig('prober'));
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(settings)).toBe(true);
  });
});

it('reports an unknown kind on one line, whatever the file contains', () => {
  const text = `${minimal}kcmNodeMonitorGraceDuration: 40s\n`.replace('apps/v1', JSON.stringify('\n\napps/v1'));
  const messages = proberConfig.check(text).map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining('Deployment of \\n\\napps/v1 is not served by any seed'));
  expect(messages.join()).not.toContain('\n');
});
