import type { ProcessName, SimEvent } from '../history.ts';
import { stalledSpells, spellAt } from '../process-model.ts';
import { type LandedDelete, type BatchesByOwner, landedDelete, takeDelete } from '../batches.ts';
import type { Model } from '../model.ts';
import { type Known, stateful, stateless } from './invariant.ts';

/** Lag of a watch, and the time that a delete waits for its turn, without faults. */
const lagMs = 2_500;

type ReadySpells = readonly { readonly from: number; readonly to: number | undefined }[];

/** Returns when weedings of one service may have begun for a process: for each, the latest time at which it may have seen that. */
const possibleStarts = (model: Model, process: ProcessName, spells: ReadySpells): readonly number[] => {
  const { byName, reloads } = model.processes;
  const stalled = stalledSpells(model.processes, process);
  const beginsAt = byName.get(process)?.ledAt ?? byName.get(process)?.startedAt ?? 0;
  /** Returns the latest time at which a change was seen: a fault that hides it may also have begun while the change was in flight. */
  const seen = (instant: number): number => {
    const spell = stalled.find(({ from, to }) => from <= instant + lagMs && instant <= to);
    return Math.max(instant + lagMs, spell?.to ?? 0);
  };
  const starts = spells.flatMap(({ from, to }) => {
    const begins = [Math.max(from, beginsAt), ...reloads.filter((reload) => reload >= from)];
    // A service that has become unready since may still have looked ready to a process that could not see it.
    return begins.filter((start) => to === undefined || start <= seen(to));
  });
  return starts.map(seen);
};

/** Returns why a delete was wrong; undefined if it was right. */
const problemOf = ({ shoot, process, sentAt, event }: LandedDelete, { model, rules }: Known): string | undefined => {
  const { before } = event;
  if (before === undefined) return undefined;
  if (!before.isCrashLooping) return 'which does not crash-loop';
  if (before.owner === undefined) return 'which nobody would bring back';
  const services = rules.weeding.possibleServices(before.labels);
  if (services.length === 0) return 'which depends on nothing that is weeded';
  const known = model.shoots.get(shoot)?.controlPlane.spells;
  const staleSince = spellAt(stalledSpells(model.processes, process), sentAt)?.from ?? sentAt - lagMs;
  const ready = services.flatMap((service) =>
    (known?.get(service) ?? []).filter(({ to = Number.POSITIVE_INFINITY }) => to >= staleSince),
  );
  if (ready.length === 0) return `while nothing it depends on was ready (${services.join(', ')})`;
  const isInTime = possibleStarts(model, process, ready).some((start) => sentAt <= start + rules.weeding.longestMs);
  return isInTime ? undefined : `after the weeding of ${services.join(', ')} was over`;
};

/** Only crash-looping dependents with an owner are deleted, while their service is ready and is being weeded. */
export const weedsOnly = stateless('weeds only', (event, known) => {
  const landed = landedDelete(event, known.model);
  if (landed === undefined) return undefined;
  const problem = problemOf(landed, known);
  return problem === undefined ? undefined : `${landed.shoot}: ${landed.name} was deleted, ${problem}`;
});

/** Pods that replace deleted ones are left alone for a back-off, which grows each time. */
export const noCrashLoop = stateful<BatchesByOwner>('never the crash loop', new Map(), (batches, event, { model }) => {
  const landed = landedDelete(event, model);
  if (landed === undefined) return { state: batches };
  const step = takeDelete(batches, landed, model);
  const seconds = (step.earlyMs / 1_000).toFixed(1);
  const problem =
    step.earlyMs > 0
      ? `${landed.shoot}: ${landed.name} was deleted ${seconds} s too early after others of its owner`
      : undefined;
  return { state: step.batches, problem };
});

type PodDelete = Extract<SimEvent, { kind: 'request' }>;

const isPodDelete = (event: SimEvent): event is PodDelete =>
  event.kind === 'request' && event.verb === 'delete' && event.resource === 'pods';

/** A pod is deleted only in the state in which it was seen, and only once. */
export const preciseDeletes = stateful<ReadonlySet<string>>('deletes what was seen', new Set(), (done, event) => {
  if (!isPodDelete(event)) return { state: done };
  const { uid, resourceVersion } = event.preconditions ?? {};
  const what = `${event.shoot ?? ''}: ${event.name ?? ''}`;
  if (uid === undefined || resourceVersion === undefined) {
    return { state: done, problem: `${what} is to be deleted whatever has become of it` };
  }
  const key = `${event.exchange.process}/${uid}`;
  if (event.stage === 'answered' && (event.status ?? 0) < 300) return { state: new Set(done).add(key) };
  const isAgain = event.stage === 'sent' && done.has(key);
  return { state: done, problem: isAgain ? `${what} is to be deleted once more` : undefined };
});
