import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { ShootConnector } from '../../kubernetes/api/shoot-connection.ts';
import type { Store } from '../../kubernetes/cache/store.ts';
import { ExternalProber } from './external-prober.ts';
import { type Emit, observer } from '../report/events.ts';
import { createStaticStore } from '../testing/static-store.ts';

let clock: VirtualClock;
let heard: string[];
let emit: Emit;
beforeEach(() => {
  clock = createVirtualClock();
  heard = [];
  emit = observer({
    'external-probe-attempted': ({ result, history }) =>
      heard.push('problem' in result ? `${result.kind}: ${result.problem}` : result.kind, history.state),
    'unexpected-error': ({ error }) => heard.push(String(error)),
  });
});

interface Given {
  readonly clientFor?: ShootConnector['clientFor'];
  readonly kubeconfigs?: Store<string | undefined>;
  readonly mode?: 'observe' | 'trigger';
}

/** Responds at once, unless the test passes another function. */
const answering: ShootConnector['clientFor'] = () => ({
  client: { call: async ({ decode }) => ({ value: decode({}), sentAt: 0, receivedAt: 0 }) },
  close: () => heard.push('closed'),
});

const start = ({
  clientFor = answering,
  kubeconfigs = createStaticStore(() => 'a kubeconfig'),
  mode = 'trigger',
}: Given = {}): ExternalProber =>
  new ExternalProber(
    {
      clock,
      random: { next: () => 0 },
      connector: { clientFor },
      kubeconfigs,
      key: 'value',
      emit,
      settings: { probeIntervalMs: 10_000, backoffJitterFactor: 0.2 },
      externalProbe: {
        kubeConfigSecretName: 'x',
        timeoutMs: 5_000,
        failureThreshold: 3,
        successThreshold: 1,
        mode,
      },
    },
    { cluster: 'a', firstDelayMs: 1_000, onUnreachable: () => heard.push('turned unreachable') },
  );

describe('the external prober', () => {
  it('treats a bug as an unknown state, counts it, and continues', async () => {
    const clientFor = (): never => {
      throw new TypeError('a bug');
    };
    start({ clientFor });
    await clock.advance(1_000);
    expect(heard).toEqual(['TypeError: a bug', 'unusable: unexpected error', 'unknown']);
    await clock.advance(10_000);
    expect(heard.filter((line) => line.startsWith('TypeError'))).toHaveLength(2);
  });

  it.each([
    { what: 'while Secrets are not listed', synced: false, why: 'the Secrets with its kubeconfig are not known yet' },
    { what: 'if its Secret lacks the key', synced: true, why: 'there is no such Secret, or it has no key "value"' },
  ])('says why an address cannot be probed: $what', async ({ synced, why }) => {
    start({ kubeconfigs: { ...createStaticStore(() => undefined), synced } });
    await clock.advance(1_000);
    expect(heard).toContainEqual(expect.stringContaining(why));
  });

  it('aborts an attempt in progress when it is stopped, and reports nothing more', async () => {
    let signal: AbortSignal | undefined;
    const clientFor: ShootConnector['clientFor'] = () => ({
      client: {
        call: async (_, options) => {
          ({ signal } = options);
          await clock.sleep(1e9, options.signal);
          throw new Error('not reached');
        },
      },
      close: () => undefined,
    });
    const prober = start({ clientFor });
    await clock.advance(1_500);
    prober.stop();
    await clock.advance(60_000);
    expect(signal?.aborted).toBe(true);
    expect(heard).toEqual([]);
  });

  it.each(['trigger', 'observe'] as const)(
    'turns unreachable after three failures, a second apart, in mode %s',
    async (mode) => {
      const error = new ApiError({ code: 'ConnectionError', message: 'refused' });
      const clientFor = () => ({ client: { call: () => Promise.reject(error) }, close: () => undefined });
      const prober = start({ clientFor, mode });
      await clock.advance(2_999);
      expect(prober.isTriggering()).toBe(false);
      await clock.advance(1);
      expect(heard.slice(-3)).toEqual(['failed: refused', 'unreachable', 'turned unreachable']);
      expect(prober.isTriggering()).toBe(mode === 'trigger');
      await clock.advance(30_000);
      expect(heard.filter((line) => line === 'turned unreachable')).toHaveLength(1);
    },
  );
});
