import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { ShootConnector } from '../../kubernetes/api/shoot-connection.ts';
import type { Store } from '../../kubernetes/cache/store.ts';
import { createExternalProbeRegistry } from '../judge/external-probe-majority.ts';
import { emptyProbeMemory } from '../judge/probe-memory.ts';
import type { Verdict } from '../judge/verdict.ts';
import { ExternalProber } from './external-prober.ts';
import type { ExternalProbeReport } from '../report/external-probe.ts';
import { failedVerdict, upVerdict } from '../testing/cases.ts';
import { defaultSettings } from '../testing/probe-run.ts';
import { createStaticStore } from '../testing/static-store.ts';

let clock: VirtualClock;
let heard: string[];
let report: ExternalProbeReport;
beforeEach(() => {
  clock = createVirtualClock();
  heard = [];
  report = {
    externalProbeAttempted: (_, { result }) =>
      heard.push('problem' in result ? `${result.kind}: ${result.problem}` : result.kind),
    externalProbeState: (_, state) => heard.push(state),
    externalProbeStopped: () => heard.push('gone'),
    externalFaultIsOurs: () => undefined,
    unexpectedError: (_, error) => heard.push(String(error)),
  };
});

interface Given {
  readonly clientFor?: ShootConnector['clientFor'];
  readonly kubeconfigs?: Store<string | undefined>;
}

/** Responds at once, unless the test passes another function. */
const answering: ShootConnector['clientFor'] = () => ({
  client: { call: async ({ decode }) => ({ value: decode({}), sentAt: 0, receivedAt: 0 }) },
  close: () => heard.push('closed'),
});

const start = ({
  clientFor = answering,
  kubeconfigs = createStaticStore(() => 'a kubeconfig'),
}: Given = {}): ExternalProber =>
  new ExternalProber(
    {
      clock,
      random: { next: () => 0 },
      connector: { clientFor },
      kubeconfigs,
      key: 'value',
      registry: createExternalProbeRegistry({ initial: [], onChange: () => undefined }),
      report,
      settings: {
        kubeConfigSecretName: 'x',
        timeoutMs: 5_000,
        failureThreshold: 3,
        successThreshold: 1,
        mode: 'trigger',
      },
    },
    {
      cluster: 'a',
      firstAttemptAt: clock.monotonic() + 1_000,
      before: undefined,
      settings: () => defaultSettings,
      onChange: (broken) => heard.push(broken ? 'turned broken' : 'turned'),
    },
  );

const decisionOf = (verdict: Verdict) => ({ verdict, reason: '', nextRunAt: 1e6, memory: emptyProbeMemory }) as const;

describe('the external prober', () => {
  it('probes over a connection that it closes, when the first run is due', async () => {
    start();
    await clock.advance(999);
    expect(heard).toEqual(['unknown']);
    await clock.advance(1);
    expect(heard).toEqual(['unknown', 'closed', 'answered', 'reachable']);
  });

  it('treats a bug as an unknown state, counts it, and continues', async () => {
    const clientFor = (): never => {
      throw new TypeError('a bug');
    };
    start({ clientFor });
    await clock.advance(1_000);
    expect(heard).toEqual(['unknown', 'TypeError: a bug', 'unusable: unexpected error', 'unknown']);
    await clock.advance(10_000);
    expect(heard.filter((line) => line.startsWith('TypeError'))).toHaveLength(2);
  });

  it('does not report Secrets as missing before they are listed', async () => {
    start({ kubeconfigs: { ...createStaticStore(() => undefined), synced: false } });
    await clock.advance(1_000);
    expect(heard).toContain('unusable: the Secrets with its kubeconfig are not known yet');
  });

  it('names the key that is missing in the Secret', async () => {
    start({ kubeconfigs: createStaticStore(() => undefined) });
    await clock.advance(1_000);
    expect(heard).toContainEqual(expect.stringContaining('there is no such Secret, or it has no key "value"'));
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
    prober.runEnded(0, decisionOf(upVerdict));
    await clock.advance(60_000);
    expect(signal?.aborted).toBe(true);
    expect(heard).toEqual(['unknown', 'gone']);
  });

  it('counts a run as answered only if it did not fail', async () => {
    const clientFor: ShootConnector['clientFor'] = () => {
      const error = new ApiError({ code: 'ConnectionError', message: 'refused' });
      return { client: { call: () => Promise.reject(error) }, close: () => undefined };
    };
    const prober = start({ clientFor });
    await clock.advance(5_000);
    expect(heard.at(-1)).toBe('turned broken');
    heard.length = 0;
    prober.runEnded(4_000, decisionOf(failedVerdict));
    await clock.advance(1_000);
    expect(prober.view()).toEqual({ mode: 'trigger', state: 'unknown' });
    prober.runEnded(4_000, decisionOf(upVerdict));
    await clock.advance(1_000);
    expect(prober.view()).toEqual({ mode: 'trigger', state: 'unreachable', since: 6_000 });
    expect(heard.at(-1)).toBe('turned broken');
  });
});
