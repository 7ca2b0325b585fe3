import { describe, expect, it } from 'vitest';
import type { Condition } from '../../gardener/condition.ts';
import type { CareExtensionKind } from '../../gardener/extensions.ts';
import { shootConditionTypes } from '../../gardener/shoot-conditions.ts';
import { ago, bad, checkInput, condition, meta, now, ok } from '../testing/check-input.ts';
import { extensionFinding } from './extensions.ts';
import { checkError, failed } from './finding.ts';
import { judge } from './judge.ts';
import type { ExtensionHeartbeat, ExtensionObservation, Read } from './observation.ts';

const type = 'ControlPlaneHealthy';
const beat = (seconds: number): ExtensionHeartbeat => ({ kind: 'lease', renewedAt: now - seconds * 1_000 });

const heard = (
  kind: CareExtensionKind,
  conditions: readonly Condition[],
  heartbeat: ExtensionHeartbeat = beat(10),
): Read<ExtensionObservation> =>
  ok({ kind, meta: meta(`my-${kind.toLowerCase()}`), type: 'local', conditions, heartbeat });

const find = (extensions: readonly Read<ExtensionObservation>[], settings = {}) =>
  extensionFinding(checkInput({ seed: { extensions }, settings }), type);

const unheard = (kind: string, why: string) => ({
  status: 'Unknown',
  reason: `${kind}OutdatedHealthCheckReport`,
  message: `${kind} extension (shoot--dev--one/my-${kind.toLowerCase()}) reports an outdated health status (${why}).`,
});
const outdated = (kind: string, age: string, time: string) => unheard(kind, `last updated: ${age} ago at ${time}`);
const said = { reason: 'R', message: 'csi is down.', codes: ['ERR_A', 'ERR_B'] };

describe('the reports of extensions', () => {
  it.each([
    ['nothing', [], undefined],
    ['all is well', [condition(type, 'True')], undefined],
    ['of a type that does not count', [condition('APIServerAvailable', 'False')], undefined],
    ['progressing', [condition(type, 'Progressing', said)], { status: 'Progressing', ...said, reason: 'WorkerR' }],
    ['false', [condition(type, 'False', said)], failed('WorkerUnhealthyReport', said.message, said.codes)],
    [
      'unknown, without codes',
      [condition(type, 'Unknown', { message: 'timeout' })],
      failed('WorkerUnhealthyReport', 'timeout'),
    ],
  ])('%s', (_, conditions, finding) => {
    expect(find([heard('Worker', conditions)])).toEqual(finding);
  });

  it.each<[string, ExtensionHeartbeat, object | undefined]>([
    ['fresh', beat(300), undefined],
    ['too old by a second', beat(301), outdated('Worker', '5m0s', '2026-01-01 11:55:00 +0000 UTC')],
    [
      'absent',
      { kind: 'none', missing: 'no heartbeat in Lease a/b' },
      unheard('Worker', 'no heartbeat in Lease a/b was found'),
    ],
    ['its own, fresh', { kind: 'own' }, undefined],
  ])('its heartbeat is %s', (_, heartbeat, finding) => {
    expect(find([heard('Worker', [condition(type, 'True')], heartbeat)])).toEqual(finding);
  });

  it('have the age of their condition without a garden', () => {
    const old = condition(type, 'True', { lastUpdateTime: ago(3_600) });
    const finding = outdated('Worker', '1h0m0s', '2026-01-01 11:00:00 +0000 UTC');
    expect(find([heard('Worker', [old], { kind: 'own' })])).toEqual(finding);
    for (const heartbeat of [beat(10), { kind: 'unknown' }] as const) {
      expect(find([heard('Worker', [old], heartbeat)])).toBeUndefined();
    }
    const never = condition(type, 'True', { lastUpdateTime: '' });
    expect(find([heard('Worker', [never], { kind: 'own' })])).toEqual(unheard('Worker', 'no lastUpdateTime was found'));
  });

  it('are Unknown if they are outdated, for any status, unless that is disabled', () => {
    const view = heard('Worker', [condition(type, 'False', said)], beat(3_600));
    expect(find([view])?.reason).toBe('WorkerOutdatedHealthCheckReport');
    expect(find([view], { staleExtensionHealthChecks: { enabled: false, threshold: 300_000 } })?.reason).toBe(
      'WorkerUnhealthyReport',
    );
    const silent = heard('Worker', [], beat(3_600));
    expect(find([silent])).toBeUndefined();
  });

  it('count in the order of the kinds: the first problem is the result', () => {
    const first = heard('Infrastructure', [condition(type, 'True')]);
    const second = heard('Network', [condition(type, 'Progressing', said)]);
    const third = heard('Worker', [condition(type, 'False', said)]);
    expect(find([first, second, third])?.reason).toBe('NetworkR');
    expect(find([first, third, second])?.reason).toBe('WorkerUnhealthyReport');
  });

  it('of a kind that could not be read are an error of the check', () => {
    const unread = bad('forbidden');
    const worker = heard('Worker', [condition(type, 'False', said)]);
    expect(find([unread, worker])).toEqual(checkError('forbidden'));
    expect(find([worker, unread])?.reason).toBe('WorkerUnhealthyReport');
  });

  it('come first in every check', () => {
    const types = shootConditionTypes.filter((one) => one !== 'APIServerAvailable');
    const conditions = types.map((one) => condition(one, 'False', said));
    const extensions = [heard('Extension', conditions)];
    const unread = { ...bad('x'), isPending: true };
    const seed = { extensions, deployments: unread, etcds: unread, managedResources: unread, machines: unread };
    for (const one of types) {
      expect(judge(checkInput({ seed })).get(one)?.reason).toBe('ExtensionUnhealthyReport');
    }
  });
});
