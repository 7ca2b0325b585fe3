import { describe, expect, it } from 'vitest';
import type { EndpointSliceView } from '../../kubernetes/api/endpoint-slice.ts';
import { type ServiceState, type ServiceVerdict, isReady, judgeService } from './service.ts';

const slice = (ready: boolean): EndpointSliceView => ({ namespace: 'ns', service: 'etcd', mirrored: false, ready });
const mirrored = (ready: boolean): EndpointSliceView => ({ ...slice(ready), mirrored: true });

describe('isReady', () => {
  it.each([
    ['no slice', [], false],
    ['one slice that is not ready', [slice(false)], false],
    ['one that is', [slice(true)], true],
    ['one of two', [slice(false), slice(true)], true],
    ['neither of two', [slice(false), slice(false)], false],
    ['a mirrored slice alone', [mirrored(true)], true],
    ['a mirrored slice alone that is not ready', [mirrored(false)], false],
    ['a mirrored slice beside one that is not ready', [mirrored(true), slice(false)], false],
    ['a mirrored slice beside one that is ready', [mirrored(false), slice(true)], true],
  ])('with %s', (_, slices, expected) => {
    expect(isReady(slices)).toBe(expected);
  });
});

const watchDurationMs = 100;

const judge = (before: ServiceState | undefined, now: number, ready: boolean): ServiceVerdict =>
  judgeService(before, { namespace: 'ns', service: 'etcd', now, watchDurationMs, ready });

const weeding = (readyAt: number) => ({
  namespace: 'ns',
  service: 'etcd',
  readyAt,
  endsAt: readyAt + watchDurationMs,
});
const started = (at: number): ServiceVerdict => ({
  state: { ready: true, weeding: weeding(at) },
  events: [{ type: 'weeding-started', weeding: weeding(at) }],
});

describe('judgeService', () => {
  const running: ServiceState = { ready: true, weeding: weeding(0) };
  const ended = (ready: boolean, why: 'expired' | 'not-ready'): ServiceVerdict => ({
    state: { ready },
    events: [{ type: 'weeding-ended', weeding: weeding(0), why }],
  });
  it.each<readonly [string, ServiceState | undefined, number, boolean, ServiceVerdict]>([
    ['ready at the first observation', undefined, 5, true, started(5)],
    ['not ready at the first observation', undefined, 5, false, { state: { ready: false }, events: [] }],
    ['becomes ready', { ready: false }, 7, true, started(7)],
    ['stays ready', running, 50, true, { state: running, events: [] }],
    ['stays ready until just before the end', running, 99, true, { state: running, events: [] }],
    ['stays ready until the end', running, 100, true, ended(true, 'expired')],
    ['stays ready afterwards', { ready: true }, 200, true, { state: { ready: true }, events: [] }],
    ['becomes not ready', running, 50, false, ended(false, 'not-ready')],
    ['stays not ready', { ready: false }, 50, false, { state: { ready: false }, events: [] }],
  ])('%s', (_, before, now, ready, expected) => {
    expect(judge(before, now, ready)).toEqual(expected);
  });
});
