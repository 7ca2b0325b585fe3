import { describe, expect, it } from 'vitest';
import { type Finding, type ShootConditionType, shootConditionTypes } from '../../gardener/shoot-conditions.ts';
import type { Condition } from '../../gardener/condition.ts';
import { type Parts, bad, checkInput, condition, now, observed, ok, settings, shoot } from '../testing/check-input.ts';
import { failed, healthy } from './finding.ts';
import { type Findings, conditionsFrom, judge } from './judge.ts';

const decideFor = (parts: Parts): Findings => judge(checkInput(parts));

const lines = (parts: Parts) =>
  Array.from(decideFor(parts), ([type, { status, reason }]) => `${type} ${status} ${reason}`);

const well = [
  'APIServerAvailable True HealthzRequestSucceeded',
  'ControlPlaneHealthy True ControlPlaneRunning',
  'ObservabilityComponentsHealthy True ObservabilityComponentsRunning',
  'EveryNodeReady True EveryNodeReady',
  'SystemComponentsHealthy True SystemComponentsRunning',
];
const all = (text: string): readonly string[] => shootConditionTypes.map((type) => `${type} ${text}`);

it.each<[string, Parts, readonly string[]]>([
  ['of a healthy shoot', {}, well],
  ['of a workerless shoot', { shoot: { pools: [] } }, well.filter((line) => !line.startsWith('EveryNodeReady'))],
  [
    'of a hibernated shoot whose objects cannot be read',
    { shoot: { hibernated: true }, seed: { managedResources: bad('x') }, view: { kind: 'not-running' } },
    all('True ConditionNotChecked'),
  ],
  [
    'without ManagedResources',
    { seed: { managedResources: bad('x') }, view: { kind: 'not-running' } },
    all('False ManagedResourceListingFailed'),
  ],
  [
    'before ManagedResources have arrived',
    { seed: { managedResources: { ...bad('x'), isPending: true } } },
    well.map((line) => line.replace(/(Pl.*|Obs.*|Sys.*) True .*/, '$1 Unknown ConditionCheckError')),
  ],
  [
    'of a shoot without a client',
    { view: { kind: 'no-client', error: 'x' } },
    [
      'APIServerAvailable Failed APIServerDown',
      ...well.slice(1, 3),
      'EveryNodeReady Unknown ConditionCheckError',
      'SystemComponentsHealthy Unknown ConditionCheckError',
    ],
  ],
  [
    'of a shoot whose API server is down: other conditions report their own problems',
    {
      view: observed({
        healthz: { text: 'x', responseMs: 1 },
        nodes: bad('x'),
        tunnel: ok({ kind: 'not-deployed' }),
      }),
    },
    [
      'APIServerAvailable Failed HealthzRequestFailed',
      ...well.slice(1, 3),
      'EveryNodeReady Unknown ConditionCheckError',
      'SystemComponentsHealthy Failed NoTunnelDeployed',
    ],
  ],
])('a run %s', (_, parts, findings) => {
  expect(lines(parts)).toEqual(findings);
});

const type = 'ControlPlaneHealthy';
const stored = (status: string, more: Partial<Condition> = {}): Condition =>
  condition(type, status, { reason: 'Broken', message: 'M', ...more });

describe('conditions', () => {
  const broken = failed('Broken', 'M');

  it('have only the threshold of their own type', () => {
    const conditionThresholds = [{ type: 'EveryNodeReady', duration: 60_000 } as const];
    const from = { shoot: shoot({ conditions: [stored('True')] }), settings: { ...settings, conditionThresholds } };
    expect(conditionsFrom(new Map([[type, broken]]), from, now)[0]?.status).toBe('False');
  });

  const apiServer = 'APIServerAvailable';
  const answered = (ms: number) => healthy('HealthzRequestSucceeded', `Fine. [response_time:${String(ms)}ms]`);
  const after = (old: Condition, finding: Finding, of: ShootConditionType = apiServer) =>
    conditionsFrom(new Map([[of, finding]]), { shoot: shoot({ conditions: [old] }), settings }, now)[0];

  const other = (old: Condition): Condition => ({ ...old, type });
  it('do not change with the response time', () => {
    const old = condition(apiServer, 'True', {
      reason: 'HealthzRequestSucceeded',
      message: 'Fine. [response_time:3ms]',
    });
    expect(after(old, answered(8))).toBe(old);
    expect(after(other(old), answered(8))?.message).toBe('Fine. [response_time:8ms]');
    expect(after({ ...old, message: 'Well. [response_time:3ms]' }, answered(8))?.message).toBe(
      'Fine. [response_time:8ms]',
    );
    expect(after({ ...old, reason: 'Other' }, answered(8))).toMatchObject({
      reason: 'HealthzRequestSucceeded',
      message: 'Fine. [response_time:3ms]',
    });
    expect(after(other(old), answered(8), type)?.message).toBe('Fine. [response_time:8ms]');
  });
});
