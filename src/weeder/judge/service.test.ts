import { describe, expect, it } from 'vitest';
import type { EndpointSliceView } from '../../kubernetes/api/endpoint-slice.ts';
import type { Weeding } from '../events.ts';
import { type ReadyService, isReady, judgeService } from './service.ts';

const slice = (ready: boolean): EndpointSliceView => ({ namespace: 'ns', service: 'etcd', mirrored: false, ready });
const mirrored = (ready: boolean): EndpointSliceView => ({ ...slice(ready), mirrored: true });

it.each([
  ['no slice', [], false],
  ['one slice that is not ready', [slice(false)], false],
  ['one of two', [slice(false), slice(true)], true],
  ['a mirrored slice alone', [mirrored(true)], true],
  ['a mirrored slice beside one that is not ready', [mirrored(true), slice(false)], false],
])('isReady with %s', (_, slices, expected) => {
  expect(isReady(slices)).toBe(expected);
});

describe('judgeService', () => {
  const watchDurationMs = 100;
  const weeding = (readyAt: number): Weeding => ({
    namespace: 'ns',
    service: 'etcd',
    readyAt,
    endsAt: readyAt + watchDurationMs,
  });
  const running: ReadyService = { weeding: weeding(0) };
  const started = (at: number) => ({
    after: { weeding: weeding(at) },
    events: [{ type: 'weeding-started', weeding: weeding(at) }],
  });
  const ended = (after: ReadyService | undefined, why: string) => ({
    after,
    events: [{ type: 'weeding-ended', weeding: weeding(0), why }],
  });

  it.each<readonly [string, ReadyService | undefined, number, boolean, object]>([
    ['ready at the first observation', undefined, 5, true, started(5)],
    ['not ready', undefined, 5, false, { after: undefined, events: [] }],
    ['stays ready until just before the end', running, 99, true, { after: running, events: [] }],
    ['stays ready until the end', running, 100, true, ended({}, 'expired')],
    ['stays ready afterwards', {}, 200, true, { after: {}, events: [] }],
    ['becomes not ready', running, 50, false, ended(undefined, 'not-ready')],
    ['becomes not ready without a weeding', {}, 50, false, { after: undefined, events: [] }],
  ])('%s', (_, before, now, ready, verdict) => {
    expect(judgeService(before, { namespace: 'ns', service: 'etcd', now, watchDurationMs, ready })).toEqual(verdict);
  });
});
