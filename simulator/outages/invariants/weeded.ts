import type { ProcessName, SimEvent } from '../history.ts';
import type { PodModel, ReadySpell } from '../pod-model.ts';
import { stalledSpells, spellAt } from '../process-model.ts';
import { type BatchesByOwner, landedDelete, longestWaitMs, takeDelete, waitOf } from '../batches.ts';
import type { Model } from '../model.ts';
import { type Known, stateful } from './invariant.ts';

/** Time from when a pod may be deleted until it is: lists and watches open, and a response or two are in flight. */
const reactionMs = 5_000;

/** Maximum latency of a response. */
const answerMs = 1_000;

/** Results of the deletes so far. */
interface Progress {
  readonly batches: BatchesByOwner;
  /** Time at which a delete last failed, by process and shoot. */
  readonly failures: ReadonlyMap<string, number>;
}

const take = (progress: Progress, event: SimEvent, model: Model): Progress => {
  const landed = landedDelete(event, model);
  if (landed !== undefined) return { ...progress, batches: takeDelete(progress.batches, landed, model).batches };
  if (event.kind !== 'request' || event.verb !== 'delete' || event.resource !== 'pods') return progress;
  const { stage, status = 0, exchange, shoot = '', at } = event;
  const hasFailed = stage === 'failed' || (stage === 'answered' && status >= 300);
  if (!hasFailed) return progress;
  return { ...progress, failures: new Map(progress.failures).set(`${exchange.process}/${shoot}`, at) };
};

/** Returns the process that must weed now, and since when. */
const weeder = ({ model, rules }: Known): { readonly process: ProcessName; readonly since: number } | undefined => {
  const { byName } = model.processes;
  const { elected, replicas } = rules.plan;
  const running = [...byName].filter(([, { isRunning }]) => isRunning);
  if (!elected && replicas === 1) {
    const [process, known] = running.at(-1) ?? [];
    return process === undefined || known === undefined ? undefined : { process, since: known.startedAt };
  }
  const { process } = model.leader;
  const known = running.find(([name]) => name === process)?.[1];
  return process === undefined || known?.ledAt === undefined ? undefined : { process, since: known.ledAt };
};

interface Case {
  readonly shoot: string;
  readonly uid: string;
  readonly pod: PodModel;
  readonly progress: Progress;
  readonly known: Known;
}

/** Returns the time at which the owner's back-off is over. Uncertain cases are judged in the weeder's favour. */
const freeAt = ({ shoot, uid, pod, progress, known }: Case, process: ProcessName): number => {
  const batches = progress.batches.get(`${process}/${pod.owner ?? ''}`);
  const failedAt = progress.failures.get(`${process}/${shoot}`) ?? Number.NEGATIVE_INFINITY;
  const ofFailures = failedAt + longestWaitMs;
  if (batches === undefined) return ofFailures;
  // The back-off starts with the response, which a fault may delay.
  const spells = stalledSpells(known.model.processes, process);
  const spell = spellAt(spells, batches.lastAt) ?? spellAt(spells, batches.lastAt + answerMs);
  const heardAt = spell?.to ?? batches.lastAt;
  const wasThere = batches.members.has(uid) && pod.bornAt < batches.beganAt - reactionMs;
  return Math.max(ofFailures, wasThere ? batches.beganAt : heardAt + waitOf(batches));
};

/** Returns the weeding of a ready service, if the process has certainly seen the service become ready; undefined if there may be none. */
const weedingOf = (
  { from, to, awaySince }: ReadySpell,
  { since, spells }: { readonly since: number; readonly spells: ReturnType<typeof stalledSpells> },
): { readonly from: number } | undefined => {
  if (to !== undefined) return undefined;
  const isSeen =
    from <= since ||
    spellAt(spells, from) === undefined ||
    (awaySince !== undefined && spellAt(spells, awaySince) === undefined);
  return isSeen ? { from: Math.max(from, since) } : undefined;
};

/** Returns the time by which the pod must be deleted; undefined if it need not be. */
const dueAt = (given: Case): number | undefined => {
  const { shoot, pod, known } = given;
  const { model, rules } = known;
  const leading = weeder(known);
  if (leading === undefined || rules.plan.dryRun) return undefined;
  if (pod.crashLoopingSince === undefined || pod.isDeleting || pod.owner === undefined) return undefined;
  const { process, since } = leading;
  const spells = stalledSpells(model.processes, process);
  const clearSince = spells.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  const services = model.shoots.get(shoot)?.controlPlane.spells;
  const earliest = Math.max(pod.crashLoopingSince, clearSince, freeAt(given, process));
  const dues = rules.weeding.certainServices(pod.labels).flatMap((service) => {
    const spell = services?.get(service)?.at(-1);
    const weeding = spell === undefined ? undefined : weedingOf(spell, { since, spells });
    if (weeding === undefined) return [];
    const due = Math.max(earliest, weeding.from) + reactionMs;
    return due < weeding.from + rules.weeding.shortestMs ? [due] : [];
  });
  return dues.length === 0 ? undefined : Math.min(...dues);
};

/** With a leader and a working API server, no crash-looping dependent remains during a weeding. */
export const weeded = stateful<Progress>(
  'weeded in time',
  { batches: new Map(), failures: new Map() },
  (before, event, known) => {
    const progress = take(before, event, known.model);
    if (event.kind !== 'tick') return { state: progress };
    for (const [shoot, { controlPlane }] of known.model.shoots) {
      for (const [uid, pod] of controlPlane.pods) {
        const due = dueAt({ shoot, uid, pod, progress, known });
        if (due === undefined || known.model.at <= due) continue;
        const lateMs = known.model.at - due + reactionMs;
        const problem = `${shoot}: ${pod.name} still crash-loops, ${(lateMs / 1_000).toFixed(1)} s after it had to be deleted`;
        return { state: progress, problem };
      }
    }
    return { state: progress };
  },
);
