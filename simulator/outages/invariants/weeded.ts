import type { Life, SimEvent } from '../history.ts';
import type { PodModel, ReadySpell } from '../pod-model.ts';
import { hamperedSpells, spellAt } from '../process-model.ts';
import { type BatchesByOwner, landedDelete, longestWaitMs, takeDelete, waitOf } from '../batches.ts';
import type { Model } from '../model.ts';
import { type Known, stateful } from './invariant.ts';

/** From the moment when a pod may be deleted: lists and watches that open, and an answer or two on their way. */
const reactionMs = 5_000;

/** The longest way of an answer. */
const answerMs = 1_000;

/** What deletes have come to. */
interface Progress {
  readonly batches: BatchesByOwner;
  /** By process and pod's name: when a delete of it last ended otherwise than well. */
  readonly failures: ReadonlyMap<string, number>;
}

const take = (progress: Progress, event: SimEvent, model: Model): Progress => {
  const landed = landedDelete(event, model);
  if (landed !== undefined) return { ...progress, batches: takeDelete(progress.batches, landed, model).batches };
  if (event.kind !== 'request' || event.verb !== 'delete' || event.resource !== 'pods') return progress;
  const { stage, status = 0, exchange, shoot = '', at } = event;
  const hasFailed = stage === 'failed' || (stage === 'answered' && status >= 300);
  if (!hasFailed) return progress;
  return { ...progress, failures: new Map(progress.failures).set(`${exchange.life}/${shoot}`, at) };
};

/** The process that has to weed now. */
const weeder = ({ model, rules }: Known): { readonly life: Life; readonly since: number } | undefined => {
  const { lives } = model.processes;
  const { elected, replicas } = rules.plan;
  const running = [...lives].filter(([, { isRunning }]) => isRunning);
  if (!elected && replicas === 1) {
    const [life, known] = running.at(-1) ?? [];
    return life === undefined || known === undefined ? undefined : { life, since: known.startedAt };
  }
  const { life } = model.leader;
  const known = running.find(([name]) => name === life)?.[1];
  return life === undefined || known?.ledAt === undefined ? undefined : { life, since: known.ledAt };
};

interface Case {
  readonly shoot: string;
  readonly uid: string;
  readonly pod: PodModel;
  readonly progress: Progress;
  readonly known: Known;
}

/** When the owner's waits are over; what cannot be known for certain is read in the weeder's favour. */
const freeAt = ({ shoot, uid, pod, progress, known }: Case, life: Life): number => {
  const batches = progress.batches.get(`${life}/${pod.owner ?? ''}`);
  const failedAt = progress.failures.get(`${life}/${shoot}`) ?? Number.NEGATIVE_INFINITY;
  const ofFailures = failedAt + longestWaitMs;
  if (batches === undefined) return ofFailures;
  // The process waits from the answer on, which may come late where something is in the way.
  const spells = hamperedSpells(known.model.processes, life);
  const spell = spellAt(spells, batches.lastAt) ?? spellAt(spells, batches.lastAt + answerMs);
  const heardAt = spell?.to ?? batches.lastAt;
  const wasThere = batches.members.has(uid) && pod.bornAt < batches.beganAt - reactionMs;
  return Math.max(ofFailures, wasThere ? batches.beganAt : heardAt + waitOf(batches));
};

/** The weeding of a service that is ready and that the process has certainly seen come; undefined: there may be none. */
const weedingOf = (
  { from, to, awaySince }: ReadySpell,
  { since, spells }: { readonly since: number; readonly spells: ReturnType<typeof hamperedSpells> },
): { readonly from: number } | undefined => {
  if (to !== undefined) return undefined;
  const isSeen =
    from <= since ||
    spellAt(spells, from) === undefined ||
    (awaySince !== undefined && spellAt(spells, awaySince) === undefined);
  return isSeen ? { from: Math.max(from, since) } : undefined;
};

/** When the pod has to be deleted at the latest; undefined: it need not be. */
const dueAt = (given: Case): number | undefined => {
  const { shoot, pod, known } = given;
  const { model, rules } = known;
  const leading = weeder(known);
  if (leading === undefined || rules.plan.dryRun) return undefined;
  if (pod.crashLoopingSince === undefined || pod.isDeleting || pod.owner === undefined) return undefined;
  const { life, since } = leading;
  const spells = hamperedSpells(model.processes, life);
  const clearSince = spells.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  const services = model.shoots.get(shoot)?.controlPlane.spells;
  const earliest = Math.max(pod.crashLoopingSince, clearSince, freeAt(given, life));
  const dues = rules.weeding.certainServices(pod.labels).flatMap((service) => {
    const spell = services?.get(service)?.at(-1);
    const weeding = spell === undefined ? undefined : weedingOf(spell, { since, spells });
    if (weeding === undefined) return [];
    const due = Math.max(earliest, weeding.from) + reactionMs;
    return due < weeding.from + rules.weeding.shortestMs ? [due] : [];
  });
  return dues.length === 0 ? undefined : Math.min(...dues);
};

/** No crash-looping dependant stays during a weeding, with a weeder that leads and an API server that answers. */
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
