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

/** Result of the requests to the API server of a shoot. */
export type ShootAnswer =
  | {
      readonly kind: 'answered';
      /** Its clock minus that of the seed's API server, in milliseconds. Absent if unknown. */
      readonly skewMs?: number;
      readonly missing: readonly NeededRight[];
    }
  /** The API server does not accept the credentials. */
  | { readonly kind: 'rejected'; readonly problem: string }
  /** `isNameUnknown`: true if DNS does not resolve its name on this machine. */
  | { readonly kind: 'unreachable'; readonly problem: string; readonly isNameUnknown: boolean }
  /** The timeout of the preflight was over before the first request. */
  | { readonly kind: 'untried'; readonly problem: string };

/** If at least this number of shoots are unreachable, and no other responds, the cause is the network of this machine. */
const manyShoots = 3;

/** Describes that this machine reaches no API server. Undefined if the cause is with the shoots, if any. */
const outOfReach = (answers: readonly ShootAnswer[]): string | undefined => {
  const unreachable = answers.filter((answer) => answer.kind === 'unreachable');
  if (unreachable.length === 0 || answers.some(({ kind }) => kind === 'answered' || kind === 'rejected')) {
    return undefined;
  }
  const isUnknownHere = unreachable.every(({ isNameUnknown }) => isNameUnknown);
  if (!isUnknownHere && unreachable.length < manyShoots) return undefined;
  const first = unreachable[0]?.problem ?? '';
  return `this machine reaches 0 of ${plural(answers.length, 'API server')}: ${first}`;
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
 * Checks that the API servers of the shoots respond, that they grant the rights that the prober needs, and that their clocks agree with the seed's.
 * `answers` are by namespace, for shoots with a usable Secret; undefined if the check is left out.
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
