import type { Kube } from '../../../src/kubernetes/api/kube.ts';
import { createKubeClient } from '../../../src/kubernetes/client/client.ts';
import { type LeadershipEnd, LeaderElector } from '../../../src/kubernetes/leaderelection/leader-elector.ts';
import type { Random } from '../../../src/ports/random.ts';
import { type RecordingLogger, createRecordingLogger } from '../../doubles/recording-logger.ts';
import type { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';

export const lease = { namespace: 'garden', name: 'dwd-prober-leader-election' };
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

export interface ElectionReplicaOptions {
  readonly identity: string;
  readonly process: SimulatedProcess;
  readonly kube: Kube;
  readonly random: Random;
  readonly onStarted?: () => void;
  readonly onStopped?: (end: LeadershipEnd) => Promise<void>;
}

/** A process that takes part in the election. */
export interface ElectionReplica {
  readonly identity: string;
  readonly process: SimulatedProcess;
  readonly elector: LeaderElector;
  readonly logger: RecordingLogger;
  /** Number of times that it began to write: when it became the leader, and when it was no longer held up. */
  readonly starts: number;
  /** Result of `run`; undefined while it runs. */
  readonly end: LeadershipEnd | undefined;
  readonly ended: Promise<LeadershipEnd>;
  /** Stops the replica as SIGTERM does. */
  stop(): void;
}

export const startReplica = (options: ElectionReplicaOptions): ElectionReplica => {
  const { identity, process, random, onStarted, onStopped = async () => undefined } = options;
  const { clock } = process;
  const logger = createRecordingLogger();
  const stop = new AbortController();
  let starts = 0;
  let end: LeadershipEnd | undefined;
  const elector = new LeaderElector({
    client: createKubeClient({ kube: process.connect(options.kube), clock }),
    clock,
    random,
    logger,
    lease,
    identity,
    ...times,
    onStopped,
  });
  elector.onLead(() => {
    starts += 1;
    onStarted?.();
  });
  const ended = elector.run(stop.signal).then((result) => {
    end = result;
    return result;
  });
  return {
    identity,
    process,
    elector,
    logger,
    get starts() {
      return starts;
    },
    get end() {
      return end;
    },
    ended,
    stop: () => stop.abort(new Error('SIGTERM')),
  };
};
