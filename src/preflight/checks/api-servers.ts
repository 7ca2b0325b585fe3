import { formatRight } from '../../kubernetes/api/access.ts';
import type { NeededRight } from '../../process/rights/index.ts';
import { type CountedNodes, isTooFew, whyTooFew } from '../../status/state/judge-shoot.ts';
import { plural } from '../../status/state/words.ts';
import { type PreflightCheck, type PreflightFinding, judgeEach } from './check.ts';
import { skewInWords, warnSkewMs } from './seed.ts';

/** The nodes of a shoot, or why they could not be counted. */
export type SeenNodes = CountedNodes | PreflightFinding;

/** Result of the requests to the API server of a shoot. */
export type ShootAnswer =
  | {
      readonly kind: 'answered';
      /** Its clock minus that of the seed's API server, in milliseconds. Absent if unknown. */
      readonly skewMs?: number;
      readonly missing: readonly NeededRight[];
      /** Absent if a right is missing. */
      readonly nodes?: SeenNodes;
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

const codesOfFailures = {
  rejected: 'secret-rejected',
  unreachable: 'shoot-unreachable',
  untried: 'read-failed',
} as const;

const judgeReach = (shoot: string, answer: ShootAnswer): readonly PreflightFinding[] =>
  answer.kind === 'answered' ? [] : [{ code: codesOfFailures[answer.kind], shoot, detail: answer.problem }];

export const apiServers = { subject: 'API servers of shoots', name: 'answers' } as const;

const checkNodes = (
  answered: readonly { readonly shoot: string; readonly nodes?: SeenNodes }[],
): readonly PreflightCheck[] => {
  const asked = answered.flatMap(({ shoot, nodes }) => (nodes === undefined ? [] : [{ shoot, nodes }]));
  if (asked.length === 0) return [];
  const counted = judgeEach('2 or more in', asked, ({ shoot, nodes }) => {
    if ('code' in nodes) return [{ ...nodes, shoot }];
    return isTooFew(nodes) ? [{ code: 'too-few-nodes', shoot, detail: whyTooFew(nodes) }] : [];
  });
  return [{ subject: apiServers.subject, name: 'nodes that count', ...counted }];
};

/**
 * Checks that the API servers of the shoots respond, that they grant the rights that the prober needs, that their clocks agree with the seed's, and that
 * enough nodes count to show an outage. `answers` are by namespace, for shoots with a usable Secret.
 */
export const checkApiServers = (answers: ReadonlyMap<string, ShootAnswer>): readonly PreflightCheck[] => {
  const unreached = outOfReach([...answers.values()]);
  if (unreached !== undefined) {
    const findings = [{ code: 'shoots-out-of-reach', detail: unreached }] as const;
    return [{ ...apiServers, detail: 'could not be checked from here', findings }];
  }
  const reached = { ...apiServers, ...judgeEach('from', [...answers], ([shoot, answer]) => judgeReach(shoot, answer)) };
  const answered = [...answers].flatMap(([shoot, answer]) =>
    answer.kind === 'answered' ? [{ shoot, ...answer }] : [],
  );
  if (answered.length === 0) return [reached];
  const { subject } = apiServers;
  const rights = judgeEach('granted in', answered, ({ shoot, missing }) =>
    missing.map(({ right, purpose }) => ({
      code: 'shoot-right-missing',
      shoot,
      detail: `${purpose}: ${formatRight(right)}`,
    })),
  );
  const clocks = judgeEach('agree within 5s in', answered, ({ shoot, skewMs = 0 }) =>
    Math.abs(skewMs) <= warnSkewMs
      ? []
      : [
          {
            code: 'shoot-clock-skew',
            shoot,
            detail: `its clock is ${skewInWords(skewMs)} that of the seed's API server`,
          },
        ],
  );
  return [
    reached,
    { subject, name: 'rights in the shoots', ...rights },
    { subject, name: 'clocks', ...clocks },
    ...checkNodes(answered),
  ];
};
