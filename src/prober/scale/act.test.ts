import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { type ScriptedClient, createScriptedClient } from '../../../test/doubles/scripted-client.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { act } from './act.ts';
import type { Action, ActionResponse } from './operation.ts';
import { deployment, etcd, objectOf, stateOf } from '../testing/resources.ts';

const kcm = deployment('kcm');
const main = etcd('main');

let clock: VirtualClock;
let seed: ScriptedClient;
let wanted: AbortController;
beforeEach(() => {
  clock = createVirtualClock();
  seed = createScriptedClient(clock);
  wanted = new AbortController();
});

const base = stateOf(objectOf(kcm, { replicas: 3 }));
const annotations = { [replicas]: '3', [active]: '' };
const read: Action = { kind: 'read', key: refKey(kcm) };
const down: Action = { kind: 'write', key: refKey(kcm), write: { base, kind: 'object', annotations, replicas: 0 } };
const scaleDown: Action = { kind: 'write', key: refKey(main), write: { base, kind: 'scale', replicas: 0 } };

interface Given {
  readonly ref?: ResourceRef;
  readonly urgent?: boolean;
}

/** `outcome()` is undefined while the request is in progress. */
const start = async (action: Action, { ref = kcm, urgent = true }: Given = {}) => {
  let outcome: ActionResponse | { readonly thrown: unknown } | undefined;
  const target = { ref, resource: 'things', namespace: 'shoot--a' };
  act({ seed, dryRun: false }, { action, target, urgent, signal: wanted.signal }).then(
    (value) => {
      outcome = value;
    },
    (thrown: unknown) => {
      outcome = { thrown };
    },
  );
  await clock.settle();
  return () => outcome;
};

describe('the limits of a request', () => {
  const urgently = { timeoutMs: 5_000, priority: 'urgent', noRetry: true };
  const ordinarily = { timeoutMs: 30_000, noRetry: true };

  it.each([
    { what: 'an urgent read', action: read, given: { urgent: true }, limits: urgently },
    { what: 'an urgent write', action: down, given: { urgent: true }, limits: { ...urgently, sentTimeoutMs: 5_000 } },
    { what: 'a write', action: down, given: { urgent: false }, limits: { ...ordinarily, sentTimeoutMs: 5_000 } },
  ])('$what: $limits', async ({ action, given, limits }) => {
    await start(action, given);
    expect(seed.calls.map(({ options }) => options)).toEqual([{ ...limits, signal: wanted.signal }]);
  });
});

it.each([
  { what: 'a write', action: down, ref: kcm },
  { what: 'a write through the scale subresource', action: scaleDown, ref: main },
])('$what is refused by the API server unless the resource is still at the version that was judged', async (given) => {
  await start(given.action, given);
  expect(seed.calls[0]?.call).toMatchObject({ body: { metadata: { resourceVersion: base.resourceVersion } } });
});

describe('an aborted request', () => {
  it('is reported as not sent, if it is a write that had not left', async () => {
    const outcome = await start(down);
    wanted.abort(new Error('the scaling is ending'));
    await clock.settle();
    const error = { code: 'Rejected', message: 'not sent: no longer wanted' };
    expect(outcome()).toMatchObject({ key: refKey(kcm), result: { ok: false, error } });
  });

  it('rejects with the unchanged reason, if it is a read', async () => {
    const outcome = await start(read);
    const reason = new Error('the scaling has ended');
    wanted.abort(reason);
    await clock.settle();
    expect(outcome()).toEqual({ thrown: reason });
  });
});

describe('a response', () => {
  it('that the resource does not exist is no error for a read', async () => {
    const missing = new ApiError({ code: 'NotFound', message: 'x' });
    for (const action of [read, down]) {
      const outcome = await start(action);
      seed.waiting[0]!.fail(missing);
      await clock.settle();
      const result = action === read ? { ok: true, value: undefined } : { ok: false, error: missing };
      expect(outcome()).toEqual({ key: refKey(kcm), result });
    }
  });

  it('that is a bug is thrown', async () => {
    const outcome = await start(down);
    const bug = new TypeError('a bug');
    seed.waiting[0]!.fail(bug);
    await clock.settle();
    expect(outcome()).toEqual({ thrown: bug });
  });
});
