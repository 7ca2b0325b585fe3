import { formatRight } from '../../kubernetes/api/access.ts';
import type { NeededRight } from '../../process/rights/index.ts';
import {
  type PreflightCheck,
  type PreflightFinding,
  type SeedRead,
  countWell,
  perShoot,
  plural,
  share,
} from './check.ts';
import { skewInWords, warnSkewMs } from './seed.ts';

/** What the API server of a shoot answered. */
export type ShootAnswer =
  | {
      readonly kind: 'answered';
      /** Its clock minus that of the seed's API server; undefined if that could not be told. */
      readonly skewMs?: number;
      readonly missing: readonly NeededRight[];
    }
  /** It does not know who we are. */
  | { readonly kind: 'rejected'; readonly problem: string }
  /** `isNameUnknown`: DNS does not know its name here. */
  | { readonly kind: 'unreachable'; readonly problem: string; readonly isNameUnknown: boolean }
  /** The time was over before it was tried. */
  | { readonly kind: 'untried'; readonly problem: string };

/** So many unreachable ones, and no other, have one cause: they are not reached from here. */
const manyShoots = 3;

/** Undefined: it is the shoots that are out of order, if any. */
const outOfReach = (answers: readonly ShootAnswer[]): string | undefined => {
  const unreachable = answers.filter((answer) => answer.kind === 'unreachable');
  if (unreachable.length === 0 || answers.some(({ kind }) => kind === 'answered' || kind === 'rejected')) {
    return undefined;
  }
  const isUnknownHere = unreachable.every(({ isNameUnknown }) => isNameUnknown);
  if (!isUnknownHere && unreachable.length < manyShoots) return undefined;
  const first = unreachable[0]?.problem ?? '';
  return `not one of ${plural(answers.length, 'API server')} is reached from this machine: ${first}`;
};

const judgeReach = (shoot: string, answer: ShootAnswer): PreflightFinding | undefined => {
  switch (answer.kind) {
    case 'answered':
      return undefined;
    case 'rejected':
      return { code: 'secret-rejected', shoot, detail: answer.problem };
    case 'unreachable':
      return { code: 'shoot-unreachable', shoot, detail: answer.problem };
    case 'untried':
      return { code: 'read-failed', shoot, detail: answer.problem };
  }
};

const subject = 'API servers of shoots';
const name = 'answers';

type Answered = readonly [shoot: string, answer: Extract<ShootAnswer, { readonly kind: 'answered' }>];

const checkShootRights = (answered: readonly Answered[]): PreflightCheck => {
  const findings = answered.flatMap(([shoot, { missing }]) =>
    missing.map(({ right, purpose }) => ({
      code: 'shoot-right-missing' as const,
      shoot,
      detail: `${purpose}: ${formatRight(right)}`,
    })),
  );
  const detail = share('granted in', countWell(answered.length, findings), answered.length);
  return { subject, name: 'rights in the shoots', detail, findings };
};

const checkShootClocks = (answered: readonly Answered[]): PreflightCheck => {
  const findings = perShoot(answered, ([shoot, { skewMs }]) =>
    skewMs === undefined || Math.abs(skewMs) <= warnSkewMs
      ? undefined
      : {
          code: 'shoot-clock-skew',
          shoot,
          detail: `its clock is ${skewInWords(skewMs)} that of the seed's API server`,
        },
  );
  const detail = share('agree within 5s in', countWell(answered.length, findings), answered.length);
  return { subject, name: 'clocks', detail, findings };
};

const judgeAnswers = (answers: ReadonlyMap<string, ShootAnswer>): readonly PreflightCheck[] => {
  const all = [...answers.values()];
  const unreached = outOfReach(all);
  if (unreached !== undefined) {
    const findings = [{ code: 'shoots-out-of-reach', detail: unreached }] as const;
    return [{ subject, name, detail: 'could not be checked from here', findings }];
  }
  const findings = perShoot(answers, ([shoot, answer]) => judgeReach(shoot, answer));
  const answered = [...answers].flatMap(([shoot, answer]): readonly Answered[] =>
    answer.kind === 'answered' ? [[shoot, answer]] : [],
  );
  const reached = { subject, name, detail: share('from', answered.length, all.length), findings } as const;
  return answered.length === 0 ? [reached] : [reached, checkShootRights(answered), checkShootClocks(answered)];
};

/**
 * Do the API servers of the shoots answer, with the rights that the prober needs, and do their clocks agree with the seed's? `answers`: by
 * namespace, of the shoots whose Secret is usable; undefined: they were not asked.
 */
export const checkApiServers = (
  answers: SeedRead<ReadonlyMap<string, ShootAnswer>> | undefined,
): readonly PreflightCheck[] => {
  if (answers === undefined) {
    return [{ subject, name, detail: '--shoot-api-servers=false', findings: [], leftOut: true }];
  }
  if (answers.ok) return judgeAnswers(answers.value);
  return [{ subject, name, detail: 'could not be checked', findings: [answers.error] }];
};
