import type { Rules } from '../rules.ts';
import type { ShootTruth } from '../truth.ts';
import { exchangeKey } from '../truth.ts';
import { type Look, type View, viewOf } from '../views.ts';
import { stateless } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** Timestamps have microseconds. */
const resolutionMs = 1;
/** How far a timestamp may be from what was seen and still count. */
const timestampToleranceMs = 2_000;

interface Evidence {
  readonly candidates: number;
  readonly expired: number;
}

interface Case {
  readonly name: string;
  readonly shoot: ShootTruth;
  readonly view: View;
  readonly rules: Rules;
}

/**
 * What a look showed, read as favourably to a scale-down as the specification allows: a lease is as old as its last change, or as the end of
 * a dark spell; where clocks are wrong, a timestamp may be believed within limits once the lease was seen to move, and without before.
 */
const read = (look: Look, { name, shoot, view, rules }: Case): Evidence => {
  const slackMs = shoot.isSkewed ? view.longestGapMs + timestampToleranceMs : 0;
  const candidates = [...look.leases].filter(
    ([node]) => look.nodes?.get(node)?.isCandidate === true && look.machines?.has(node) === true,
  );
  const expired = candidates.filter(([node, changedAt]) => {
    if (shoot.isSkewed && !view.moved.has(node)) return true;
    const since = Math.max(changedAt, view.darkUntil <= look.knownAt ? view.darkUntil : Number.NEGATIVE_INFINITY);
    return look.servedAt - since >= rules.limitMs(name) - slackMs - resolutionMs;
  });
  return { candidates: candidates.length, expired: expired.length };
};

/** No Deployment goes down unless what the same process was shown last, before it wrote, crossed the threshold. */
export const evidence = stateless('no scale-down without evidence', (event, { truth, views, rules }) => {
  const write = watchdogWrite(event);
  if (write?.direction !== 'down') return undefined;
  const { shoot: name, writer } = write;
  const shoot = truth.shoots.get(name);
  const sentAt = truth.exchanges.get(exchangeKey(writer))?.sentAt ?? truth.at;
  const view = viewOf(views, writer.life, name);
  if (shoot === undefined) return undefined;
  if (view.looks < 2) return `${name}: ${write.name} was scaled down after ${String(view.looks)} looks at its leases`;
  // With a single candidate nothing is decided, so what was decided before still holds.
  const known = view.complete
    .filter(({ knownAt }) => knownAt <= sentAt)
    .map((look) => read(look, { name, shoot, view, rules }))
    .find(({ candidates }) => candidates !== 1);
  if (known === undefined) return `${name}: ${write.name} was scaled down without a look at leases, nodes and machines`;
  if (known.candidates >= 2 && known.expired / known.candidates >= rules.fraction) return undefined;
  const counts = `${String(known.expired)} of ${String(known.candidates)} leases`;
  return `${name}: ${write.name} was scaled down although only ${counts} had expired`;
});
