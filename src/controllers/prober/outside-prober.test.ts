import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../domain/index.ts';
import type { ShootConnector, Store } from '../../ports/index.ts';
import { createFakeClock, type FakeClock } from '../../testing/index.ts';
import { createPathRegistry } from './outside-majority.ts';
import { type OutsideProber, startOutsideProber } from './outside-prober.ts';
import type { OutsideReport } from './report-outside.ts';
import { failedVerdict, upVerdict } from './testing/cases.ts';
import { defaultSettings } from './testing/probe-run.ts';
import { createStaticStore } from './testing/static-store.ts';
import { emptyProbeMemory, type Verdict } from './verdict.ts';

let clock: FakeClock;
let told: string[];
let report: OutsideReport;
beforeEach(() => {
  clock = createFakeClock();
  told = [];
  report = {
    pathTried: (_, { result }) => told.push('problem' in result ? `${result.kind}: ${result.problem}` : result.kind),
    pathState: (_, state) => told.push(state),
    pathGone: () => told.push('gone'),
    pathFaultIsOurs: () => undefined,
    broke: (_, error) => told.push(String(error)),
  };
});

interface Given {
  readonly connect?: ShootConnector['connect'];
  readonly kubeconfigs?: Store<string | undefined>;
}

/** Answers at once, unless the test says otherwise. */
const connected: ShootConnector['connect'] = () => ({
  client: { call: async ({ decode }) => ({ value: decode({}), sentAt: 0, receivedAt: 0 }) },
  close: () => told.push('closed'),
});

const start = ({
  connect = connected,
  kubeconfigs = createStaticStore(() => 'a kubeconfig'),
}: Given = {}): OutsideProber =>
  startOutsideProber(
    {
      clock,
      random: { next: () => 0 },
      connector: { connect },
      kubeconfigs,
      paths: createPathRegistry({ initial: [], onChange: () => undefined }),
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
      namespace: 'a',
      firstTryAt: clock.monotonic() + 1_000,
      before: undefined,
      probe: () => defaultSettings,
      onTurn: (broken) => told.push(broken ? 'turned broken' : 'turned'),
    },
  );

const decisionOf = (verdict: Verdict) => ({ verdict, reason: '', nextRunAt: 1e6, memory: emptyProbeMemory }) as const;

describe('the outside prober', () => {
  it('tries over a connection that it closes, when the first run is due', async () => {
    start();
    await clock.advance(999);
    expect(told).toEqual(['unknown']);
    await clock.advance(1);
    expect(told).toEqual(['unknown', 'closed', 'answered', 'whole']);
  });

  it('takes a bug for a path of which nothing is known, counts it, and goes on', async () => {
    const connect = (): never => {
      throw new TypeError('a bug');
    };
    start({ connect });
    await clock.advance(1_000);
    expect(told).toEqual(['unknown', 'TypeError: a bug', 'unusable: unexpected error', 'unknown']);
    await clock.advance(10_000);
    expect(told.filter((line) => line.startsWith('TypeError'))).toHaveLength(2);
  });

  it('does not take Secrets that are not known yet for missing ones', async () => {
    start({ kubeconfigs: { ...createStaticStore(() => undefined), synced: false } });
    await clock.advance(1_000);
    expect(told).toContain('unusable: the Secrets with its kubeconfig are not known yet');
  });

  it('ends a try under way when it is stopped, and says nothing more', async () => {
    let signal: AbortSignal | undefined;
    const connect: ShootConnector['connect'] = () => ({
      client: {
        call: async (_, options) => {
          ({ signal } = options);
          await clock.sleep(1e9, options.signal);
          throw new Error('not reached');
        },
      },
      close: () => undefined,
    });
    const prober = start({ connect });
    await clock.advance(1_500);
    prober.stop();
    prober.runEnded(0, decisionOf(upVerdict));
    await clock.advance(60_000);
    expect(signal?.aborted).toBe(true);
    expect(told).toEqual(['unknown', 'gone']);
  });

  it('counts a run as answered only where it did not fail', async () => {
    const connect: ShootConnector['connect'] = () => {
      const error = new ApiError({ code: 'ConnectionError', message: 'refused' });
      return { client: { call: () => Promise.reject(error) }, close: () => undefined };
    };
    const prober = start({ connect });
    await clock.advance(5_000);
    expect(told.at(-1)).toBe('turned broken');
    told.length = 0;
    prober.runEnded(4_000, decisionOf(failedVerdict));
    await clock.advance(1_000);
    expect(prober.view()).toEqual({ mode: 'trigger', state: 'unknown' });
    prober.runEnded(4_000, decisionOf(upVerdict));
    await clock.advance(1_000);
    expect(prober.view()).toEqual({ mode: 'trigger', state: 'broken', since: 6_000 });
    expect(told.at(-1)).toBe('turned broken');
  });
});
