import type { Clock } from '../../ports/index.ts';
import { act, type ActDeps, type DeleteResult } from './act.ts';
import { decide, emptyNamespaceMemory, type NamespaceMemory, recordOutcome, type SeenPod } from './decide.ts';
import type { WeederReport } from './report.ts';
import type { Weeding } from './weedings.ts';

export interface NamespaceWeederDeps extends ActDeps {
  readonly clock: Clock;
  readonly report: WeederReport;
}

export interface NamespaceWeederOptions {
  readonly namespace: string;
  readonly memory: NamespaceMemory | undefined;
  /** Those that are not over, by service. */
  readonly weedings: () => ReadonlyMap<string, Weeding>;
  /** Pods that the weedings under way show. */
  readonly pods: () => readonly SeenPod[];
}

/** Deletes the crash-looping pods of one namespace, whichever of its weedings they belong to. */
export interface NamespaceWeeder {
  /** Pods or weedings have changed. */
  look(): void;
  memory(): NamespaceMemory;
  /** Nothing is left to remember or to wait for. */
  isIdle(): boolean;
  /** Sends nothing new; resolves when what was sent has been answered. */
  stop(): Promise<void>;
}

export const createNamespaceWeeder = (deps: NamespaceWeederDeps, options: NamespaceWeederOptions): NamespaceWeeder => {
  const { clock, report } = deps;
  const { namespace, weedings } = options;
  const underWay = new Map<AbortController, { readonly seen: SeenPod; readonly ended: Promise<void> }>();
  let memory = options.memory ?? emptyNamespaceMemory;
  let cancelTimer: (() => void) | undefined;
  let isScheduled = false;
  let isStopped = false;

  /** Never within the caller's stack, so that changes of one moment are taken in together. */
  const look = (): void => {
    if (isScheduled || isStopped) return;
    isScheduled = true;
    queueMicrotask(() => {
      isScheduled = false;
      if (isStopped) return;
      try {
        step();
      } catch (error) {
        report.broke(namespace, error);
      }
    });
  };

  const step = (): void => {
    const now = clock.monotonic();
    for (const [controller, { seen }] of underWay) {
      // What has left is awaited all the same.
      if (causeOf(seen) === undefined) controller.abort(new Error('the weeding has ended'));
    }
    const decision = decide(options.pods(), memory, now);
    memory = decision.memory;
    for (const { seen, error } of decision.refused) tell(seen, (about) => report.deleteFailed({ ...about, error }));
    for (const seen of decision.leftAlone) tell(seen, (about) => report.podLeftAlone(about));
    for (const seen of decision.deletions) start(seen);
    cancelTimer?.();
    cancelTimer = Number.isFinite(decision.nextLookAt) ? clock.timer(decision.nextLookAt - now, look) : undefined;
  };

  const causeOf = ({ services }: SeenPod): Weeding | undefined => {
    const matching = services.flatMap((service) => weedings().get(service) ?? []);
    return matching.toSorted((a, b) => b.readyAt - a.readyAt)[0];
  };

  const tell = (seen: SeenPod, how: (about: { pod: SeenPod['pod']; weeding: Weeding; now: number }) => void): void => {
    const weeding = causeOf(seen);
    if (weeding !== undefined) how({ pod: seen.pod, weeding, now: clock.monotonic() });
  };

  const start = (seen: SeenPod): void => {
    const controller = new AbortController();
    const weeding = causeOf(seen);
    const ended = remove(seen, weeding, controller);
    underWay.set(controller, { seen, ended });
  };

  const remove = async (seen: SeenPod, weeding: Weeding | undefined, controller: AbortController): Promise<void> => {
    const { pod } = seen;
    try {
      const { signal } = controller;
      const result = await act(deps, { pod, signal, isWanted: () => causeOf(seen) !== undefined });
      memory = recordOutcome(memory, { pod, outcome: result.outcome }, clock.monotonic());
      if (weeding !== undefined) reportResult({ pod, weeding, now: clock.monotonic() }, result);
    } catch (error) {
      memory = recordOutcome(
        memory,
        { pod, outcome: { kind: 'failed', retryAfterMs: 0, mayHaveLanded: true } },
        clock.monotonic(),
      );
      report.broke(namespace, error);
    }
    underWay.delete(controller);
    look();
  };

  const reportResult = (about: Parameters<WeederReport['podDeleted']>[0], result: DeleteResult): void => {
    const { outcome, error } = result;
    switch (outcome.kind) {
      case 'deleted':
        report.podDeleted(about);
        break;
      case 'gone':
      case 'changed':
        report.podSpared({ ...about, why: outcome.kind });
        break;
      case 'unsent':
        break;
      case 'failed':
        if (error !== undefined) report.deleteFailed({ ...about, error });
        break;
    }
  };

  return {
    look,
    memory: () => memory,
    isIdle: () => underWay.size === 0 && memory.owners.size === 0,
    stop: async () => {
      isStopped = true;
      cancelTimer?.();
      const all = [...underWay];
      for (const [controller] of all) controller.abort(new Error('the weeder is stopping'));
      await Promise.all(all.map(([, { ended }]) => ended));
    },
  };
};
