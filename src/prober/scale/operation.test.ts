import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heldAnnotation } from '../../annotations/held.ts';
import {
  meltdownProtectionAnnotation as active,
  ignoreScalingAnnotation as ignore,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { ApiError, type ApiErrorCode } from '../../kubernetes/api/errors.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type ResourceState, isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import { dependent, deployment, etcd, heldObject, objectOf, stateOf } from '../testing/resources.ts';
import type { ScaleInfo } from '../config/settings.ts';
import { type Action, type ActionResponse, type Snapshot, idleOperation, latestState } from './operation.ts';
import type { ScalingScope } from './patch-plan.ts';
import { advanceScaling, createScaling } from './scaling.ts';

const kcm = deployment('kcm');
const main = etcd('main');

/** What becomes of a request. Default: it is served. */
interface Fate {
  readonly error?: ApiErrorCode;
  readonly retryAfterMs?: number;
  /** With `error`: the rate limit held it back. */
  readonly rateLimited?: true;
  /** With `error`: the write has taken effect. */
  readonly landed?: true;
  /** Changes by another writer, right before the API server sees it, and after the response. */
  readonly before?: Partial<ResourceState>;
  readonly after?: Partial<ResourceState>;
}

interface Play extends Partial<ScaleInfo> {
  readonly ref?: typeof kcm;
  readonly state?: ResourceState;
  readonly scope?: ScalingScope;
  readonly optional?: boolean;
  readonly fateOf?: (index: number, kind: Action['kind']) => Fate | undefined;
  /** False if no watch shows the resource. */
  readonly isWatched?: boolean;
  /** True if the pods never follow. */
  readonly isStuck?: boolean;
  /** Until when the verdict is recent. */
  readonly recentUntil?: number;
  readonly until?: number;
}

const textOf = (action: Action): string => {
  if (action.kind === 'read') return 'read';
  const { kind, replicas: count } = action.write;
  return count === undefined ? 'annotate' : `${kind === 'scale' ? 'scale to' : 'patch to'} ${String(count)}`;
};

/** Plays the scaling of one resource, whose requests take 20 ms: what is sent when, how and when it ends, and its states on the API server. */
const play = (direction: 'up' | 'down', given: Play = {}) => {
  const { ref = kcm, scope = 'all', optional = false, isWatched = true, isStuck = false, until = 300_000 } = given;
  const { recentUntil = Number.POSITIVE_INFINITY, fateOf = () => undefined, ...info } = given;
  let server = given.state ?? stateOf(direction === 'up' ? heldObject(ref) : objectOf(ref, { replicas: 3 }));
  const states = [server];
  const change = (by: Partial<ResourceState> = {}): void => {
    if (Object.keys(by).length === 0) return;
    server = { ...server, ...by, resourceVersion: String(Number(server.resourceVersion) + 1) };
    states.push(server);
  };
  const write = ({
    base,
    annotations = {},
    replicas: count = server.specReplicas,
  }: WriteOf): ActionResponse['result'] => {
    if (base.resourceVersion !== server.resourceVersion) return refusal({ error: 'Conflict' });
    const kept = Object.entries({ ...server.annotations, ...annotations }).filter((one) => one[1] !== null);
    const ready = isStuck ? { observed: false } : { readyReplicas: count };
    change({ annotations: Object.fromEntries(kept as [string, string][]), specReplicas: count, ...ready });
    return { ok: true, value: server };
  };
  const snapshotOf = (): Snapshot => {
    if (!isWatched) return { kind: 'unknown' };
    return isPatchableWorkload(ref) ? { kind: 'state', state: server } : { kind: 'unknown', object: server };
  };
  const desired = { direction, scope, reason: '', since: 0, judgedAt: 0 } as const;
  const resources = [dependent(ref, { up: info, down: info, optional })];
  let scaling = createScaling(desired, { now: 0, resources, inFlight: new Set(), mustRead: false });
  const sent: string[] = [];
  let responses: readonly ActionResponse[] = [];
  for (let now = 0; ; ) {
    const isRecent = now <= recentUntil;
    const step = advanceScaling(scaling, {
      ...{ now, wallNow: now, holder: { by: 'test' }, snapshotOf, responses },
      ...{ resources, inFlight: new Set<string>(), mustRead: false },
      ...{ mayScale: direction === 'down' || isRecent, keepsRetrying: direction === 'down' && isRecent },
    });
    ({ scaling } = step);
    const end = scaling.rest?.end;
    const [action] = step.actions;
    const next = action === undefined ? step.wakeAt : now + 20;
    if (end !== undefined || next > until) return { sent, end, endedAt: now, state: server, states };
    responses = [];
    if (action !== undefined) {
      const fate = fateOf(sent.length, action.kind) ?? {};
      sent.push(`${String(now)} ${textOf(action)}`);
      change(fate.before);
      const isSeen = fate.error === undefined || fate.landed === true;
      const served = action.kind === 'write' && isSeen ? write(action.write) : { ok: true as const, value: server };
      responses = [{ key: refKey(ref), result: fate.error === undefined ? served : refusal(fate) }];
      change(fate.after);
    }
    now = next;
  }
};

type WriteOf = Extract<Action, { kind: 'write' }>['write'];

const refusal = ({ error: code = 'ServerError', retryAfterMs, rateLimited }: Fate): ActionResponse['result'] => ({
  ok: false,
  error: new ApiError({ code, message: code, retryAfterMs, rateLimited }),
});

/** Fates of the first requests; all others are served. */
const first =
  (...fates: readonly Fate[]) =>
  (index: number): Fate | undefined =>
    fates[index];

const again: readonly ApiErrorCode[] = ['ServerError', 'ConnectionError', 'Timeout', 'MalformedResponse', 'Conflict'];
const never: readonly ApiErrorCode[] = [
  'Forbidden',
  'Unauthorized',
  'MethodNotAllowed',
  'Invalid',
  'BadRequest',
  'Rejected',
];

describe('a scale-up', () => {
  it.each(again)('after %s reads 100 ms later, and writes again, three times in all', (error) => {
    const { sent, end } = play('up', { fateOf: first({ error }) });
    expect([sent, end]).toEqual([['0 patch to 3', '120 read', '140 patch to 3'], 'completed']);
    const writes = play('up', { fateOf: (_, kind) => (kind === 'write' ? { error } : undefined) });
    expect([writes.sent.filter((line) => line.endsWith('patch to 3')).length, writes.end]).toEqual([3, 'failed']);
    const reads = play('up', { isWatched: false, fateOf: () => ({ error }) });
    expect([reads.sent, reads.end]).toEqual([['0 read', '120 read', '240 read'], 'failed']);
  });

  it.each(never)('after %s fails', (error) => {
    expect(play('up', { fateOf: () => ({ error }) })).toMatchObject({ sent: ['0 patch to 3'], end: 'failed' });
  });

  it.each([
    { retryAfterMs: undefined, at: 120 },
    { retryAfterMs: 50, at: 120 },
    { retryAfterMs: 2_000, at: 2_020 },
  ])('after 429 waits for Retry-After ($retryAfterMs ms), and needs no read', ({ retryAfterMs, at }) => {
    const { sent } = play('up', { fateOf: first({ error: 'TooManyRequests', retryAfterMs }) });
    expect(sent).toEqual(['0 patch to 3', `${String(at)} patch to 3`]);
  });

  it('of a resource that is deleted meanwhile is over', () => {
    expect(play('up', { fateOf: first({ error: 'NotFound' }) })).toMatchObject({
      sent: ['0 patch to 3'],
      end: 'completed',
    });
  });

  it('whose response is lost is not written again: a read shows that it has taken effect', () => {
    for (const scope of ['all', 'held'] as const) {
      const { sent, end } = play('up', { scope, fateOf: first({ error: 'ConnectionError', landed: true }) });
      expect([sent, end]).toEqual([['0 patch to 3', '120 read'], 'completed']);
    }
  });

  it('gives up against another writer that keeps changing the count', () => {
    const { sent, end } = play('up', { fateOf: () => ({ after: { specReplicas: 0 } }) });
    expect([sent, end]).toEqual([['0 patch to 3', '1020 patch to 1', '2040 patch to 1'], 'failed']);
  });

  it('leaves out what may not be read, and what no watch shows as held', () => {
    const forbidden: Play = { isWatched: false, fateOf: () => ({ error: 'Forbidden' }) };
    expect(play('up', { ...forbidden, scope: 'held' }).end).toBe('completed');
    expect(play('up', { ...forbidden, scope: 'all' }).end).toBe('failed');
    expect(play('up', { isWatched: false, scope: 'held', fateOf: () => ({ error: 'Unauthorized' }) }).end).toBe(
      'failed',
    );
  });
});

describe('a request that the rate limit holds back', () => {
  const limited: Fate = { error: 'Timeout', rateLimited: true };

  it('is repeated every second without a read, and is no failed attempt', () => {
    const { sent, end } = play('up', { fateOf: (index) => (index < 3 ? limited : { error: 'Conflict' }) });
    expect(sent.slice(0, 4)).toEqual(['0 patch to 3', '1020 patch to 3', '2040 patch to 3', '3060 patch to 3']);
    expect([sent.slice(4), end]).toEqual([['3180 read', '3300 read'], 'failed']);
  });

  it('fails at its timeout', () => {
    for (const isWatched of [true, false]) {
      const { sent, end, endedAt } = play('up', { timeoutMs: 4_500, isWatched, fateOf: () => limited });
      expect([sent.length, end, endedAt]).toEqual([6, 'failed', 4_520]);
    }
  });

  it('is not sent on a verdict that has become too old meanwhile', () => {
    const { sent, end } = play('up', { recentUntil: 5_000, fateOf: () => limited });
    expect([sent.length, end]).toEqual([5, undefined]);
  });
});

describe('a scale-down', () => {
  const keeps = (error: ApiErrorCode, retryAfterMs?: number) => () => ({ error, retryAfterMs });
  const everyThree = [3_020, 6_040, 9_060].map((at) => `${String(at)} patch to 0`);

  it('retries every second after its attempts, until its timeout, and on a recent verdict only', () => {
    const fateOf = keeps('TooManyRequests');
    const { sent, end, endedAt } = play('down', { timeoutMs: 5_000, fateOf });
    expect(sent.slice(0, 5)).toEqual([0, 120, 240, 1_260, 2_280].map((at) => `${String(at)} patch to 0`));
    expect([end, endedAt]).toEqual(['failed', 5_360]);
    expect(play('down', { recentUntil: 3_000, fateOf }).endedAt).toBe(3_320);
  });

  it.each([
    ['reads after a lost response', 'ConnectionError', undefined, ['120 read', '240 read', '1260 read']],
    ['waits for Retry-After', 'TooManyRequests', 3_000, everyThree],
    [
      'waits for 10 s of a longer Retry-After',
      'TooManyRequests',
      60_000,
      ['10020 patch to 0', '20040 patch to 0', '30060 patch to 0'],
    ],
    ['tries every 3 s what is refused', 'Forbidden', undefined, everyThree],
    ['reads at once after a conflict', 'Conflict', undefined, ['20 read', '40 read', '60 read']],
  ] as const)('%s', (_, error, retryAfterMs, sent) => {
    expect(play('down', { fateOf: keeps(error, retryAfterMs) }).sent.slice(1, 4)).toEqual(sent);
  });

  it('that loses races, as with a writer of status, is sent again at once', () => {
    const { sent, end } = play('down', {
      fateOf: (index, kind) =>
        kind === 'write' && index < 50 ? { before: { annotations: { other: String(index) } } } : undefined,
    });
    // A write and a read for each of 25 races.
    expect([sent.at(-1), end]).toEqual([`${String(25 * 40)} patch to 0`, 'completed']);
  });

  it('lets no autoscaler in between make it store a wrong count', () => {
    const annotations = { [active]: '', [replicas]: '5', [heldAnnotation]: expect.any(String) as unknown };
    for (const ref of [kcm, main]) {
      const { state, end } = play('down', { ref, fateOf: first({ before: { specReplicas: 5 } }) });
      expect([state, end]).toEqual([expect.objectContaining({ specReplicas: 0, annotations }), 'completed']);
    }
    // Between the two writes of a custom kind.
    const fateOf = first({}, {}, { before: { specReplicas: 5 } });
    expect(play('down', { ref: main, fateOf }).state).toMatchObject({ specReplicas: 0, annotations });
  });

  it('of a resource that another writer keeps changing writes once a second', () => {
    const { sent } = play('down', { until: 4_000, fateOf: () => ({ after: { specReplicas: 5 } }) });
    expect(sent).toEqual([0, 1_020, 2_040, 3_060].map((at) => `${String(at)} patch to 0`));
  });
});

describe('the initial delay', () => {
  it('does not delay a resource that is up, or only has leftover annotations', () => {
    const up = stateOf(objectOf(kcm, { replicas: 3 }));
    expect(play('up', { initialDelayMs: 5_000, state: up })).toMatchObject({ sent: [], end: 'completed', endedAt: 0 });
    const left = { ...up, annotations: { [active]: '', [replicas]: '3' } };
    expect(play('up', { initialDelayMs: 5_000, state: left }).sent).toEqual(['0 annotate']);
  });

  it('is waited for once, and does not shorten the timeout', () => {
    const delayed = { initialDelayMs: 5_000, fateOf: first({ error: 'ServerError' }) };
    expect(play('up', delayed).sent).toEqual(['5000 patch to 3', '5120 read', '5140 patch to 3']);
    expect(play('down', delayed).sent).toEqual(['5000 patch to 0', '5120 read', '5140 patch to 0']);
    expect(play('up', { initialDelayMs: 60_000, timeoutMs: 10_000, isStuck: true })).toMatchObject({
      end: 'failed',
      endedAt: 70_000,
    });
  });
});

describe('the end', () => {
  it.each(['up', 'down'] as const)('of a scale-%s comes with its timeout if the pods do not follow', (direction) => {
    expect(play(direction, { timeoutMs: 4_000, isStuck: true })).toMatchObject({ end: 'failed', endedAt: 4_000 });
  });

  it('is polled for every second if no watch shows it, and of a custom kind that its controller has not observed', () => {
    const { sent } = play('up', { timeoutMs: 3_500, isStuck: true, isWatched: false });
    expect(sent).toEqual(['0 read', '20 patch to 3', '1040 read', '2060 read', '3080 read']);
    const custom = play('up', { ref: main, timeoutMs: 2_500, isStuck: true });
    expect(custom.sent).toEqual(['0 read', '20 scale to 3', '40 annotate', '1060 read', '2080 read']);
  });

  it('is that of a resource with ignore-scaling once our annotation is gone', () => {
    const state = { ...stateOf(heldObject(kcm)), annotations: { [active]: '', [replicas]: '3', [ignore]: 'T' } };
    const result = play('up', { state, initialDelayMs: 5_000 });
    expect([result.sent, result.end, result.state.specReplicas]).toEqual([['0 annotate'], 'completed', 0]);
  });
});

it('custom kinds are annotated, then scaled down; they are scaled up, then their annotations are removed', () => {
  const down = play('down', { ref: main });
  expect([down.sent, down.end]).toEqual([['0 read', '20 annotate', '40 scale to 0'], 'completed']);
  const up = play('up', { ref: main });
  expect([up.sent, up.end]).toEqual([['0 read', '20 scale to 3', '40 annotate'], 'completed']);
  expect(up.state).toMatchObject({ specReplicas: 3, annotations: {} });
});

const lost: readonly ApiErrorCode[] = ['ServerError', 'ConnectionError', 'Timeout', 'MalformedResponse'];
const otherCount = fc.record({ specReplicas: fc.integer({ min: 1, max: 9 }) });
const anyFate: fc.Arbitrary<Fate> = fc.oneof(
  fc.constant<Fate>({}),
  fc.record<Fate>({ error: fc.constantFrom(...again, 'Forbidden', 'TooManyRequests') }),
  fc.record<Fate>({ error: fc.constantFrom(...lost), landed: fc.constant(true) }),
  fc.constant<Fate>({ error: 'Timeout', rateLimited: true }),
  fc.record<Fate>({ before: otherCount }),
  fc.record<Fate>({ after: otherCount }),
);

it('a scaling ends and loses no count, however its requests fail, and whatever an autoscaler writes in between', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('up', 'down'),
      fc.constantFrom(kcm, main),
      fc.array(anyFate, { maxLength: 8 }),
      fc.boolean(),
      (direction, ref, fates, isWatched) => {
        const { states, state, end } = play(direction, { ref, isWatched, fateOf: first(...fates) });
        let count = 3;
        for (const { specReplicas, annotations } of states) {
          if (specReplicas > 0) count = specReplicas;
          else expect(annotations[replicas]).toBe(String(count));
        }
        expect(end).toBeDefined();
        // The next scaling undoes a change that came after the last response.
        if (end === 'failed' || fates.some(({ after }) => after !== undefined)) return;
        expect(state.specReplicas > 0).toBe(direction === 'up');
        if (direction === 'up') expect(state.annotations).toEqual({});
      },
    ),
    { numRuns: 500 },
  );
});

it('the latest known state is that of the watch or of the API server', () => {
  const state = (version: number) => ({ kind: 'state', state: stateOf(objectOf(kcm, { version })) }) as const;
  const given = { key: 'x', info: dependent(kcm).scaleUp, ifMissing: 'failed', mustRead: false } as const;
  const operation = idleOperation(dependent(kcm), given);
  const answered = { ...operation, lastResponse: state(5).state };
  expect(latestState(operation, { kind: 'unknown' })).toBeUndefined();
  expect(latestState(operation, state(4))?.resourceVersion).toBe('4');
  const versions = [4, 5, 6].map((version) => latestState(answered, state(version))?.resourceVersion);
  expect(versions).toEqual(['5', '5', '6']);
  for (const kind of ['unknown', 'absent'] as const) {
    expect(latestState(answered, { kind })).toBe(answered.lastResponse);
  }
});
