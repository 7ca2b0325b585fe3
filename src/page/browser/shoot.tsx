import { useEffect, useRef, useState } from 'preact/hooks';
import type { LeaseEvidence, ShootStatus, RecordedDecision, ScalingProgress } from '../../status/state/schema.ts';
import type { FaultKind, FaultsOfShoot } from '../feed/index.ts';
import { commandsFor } from './commands.ts';
import { Faults } from './faults.tsx';
import { titleOf } from './states.ts';
import { StateBadge, nextOf } from './table.tsx';
import { clockTime, duration, since } from './times.ts';

interface LeasesProps {
  readonly shoot: ShootStatus;
  readonly leases: readonly LeaseEvidence[];
  readonly now: number;
}

const ageOf = ({ ageMs = Number.NaN }: LeaseEvidence): number => ageMs;

const leaseWords = (lease: LeaseEvidence, ageMs: number): string => {
  const age = Number.isNaN(ageMs) ? 'never renewed' : duration(ageMs);
  const verdict = lease.expired ? ', expired' : '';
  return lease.counted ? `${age}${verdict}` : `${age}, not counted: ${lease.leftOut ?? ''}`;
};

/** Shows the ages of leases as bars, with lines for the expiry age and KCM's grace period. */
const Leases = ({ shoot: { leaseExpiryMs, graceMs, lookedAt }, leases, now }: LeasesProps) => {
  const full = graceMs * 1.25;
  const percent = (ms: number): string => `${Math.min(100, (100 * ms) / full).toFixed(1)}%`;
  return (
    <section aria-label="Leases">
      <h3>Leases</h3>
      <p class="scale">
        leases expire at {duration(leaseExpiryMs)} (first line), KCM acts at {duration(graceMs)} (second line); ages as
        of {since(lookedAt, now)} ago
      </p>
      <ul class="leases" style={{ '--expiry': percent(leaseExpiryMs), '--grace': percent(graceMs) }}>
        {leases.map((lease) => {
          const ageMs = ageOf(lease);
          const kind = lease.counted ? (lease.expired ? 'expired' : 'renewed') : 'left-out';
          return (
            <li key={lease.name}>
              <span class="name">{lease.name}</span>
              <span class="track" aria-hidden="true">
                <span
                  class={`bar ${kind}`}
                  style={{ width: percent(Number.isNaN(ageMs) ? full : Math.max(0, ageMs)) }}
                />
              </span>
              <span class="age">{leaseWords(lease, ageMs)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
};

const Held = ({ held, now }: { readonly held: ShootStatus['held']; readonly now: number }) => (
  <section aria-label="Held">
    <h3>Held</h3>
    <ul class="flow">
      {held.map(({ kind, name, replicas, since: time }) => (
        <li key={`${kind}/${name}`}>
          {kind} {name}, to be restored to {replicas}
          {time !== undefined && `, for ${since(time, now)}`}
        </li>
      ))}
    </ul>
  </section>
);

const directions: Readonly<Record<ScalingProgress['direction'], string>> = {
  down: 'Scaling down',
  up: 'Scaling up',
  release: 'Releasing',
};

const Flow = ({ scaling, now }: { readonly scaling: ScalingProgress; readonly now: number }) => (
  <section aria-label="Scaling">
    <h3>
      {directions[scaling.direction]}, for {since(scaling.startedAt, now)}
    </h3>
    <p>{scaling.reason}</p>
    {scaling.withoutLead !== undefined && <p>Without the lead: {scaling.withoutLead}</p>}
    <ol class="flow">
      {scaling.steps
        .toSorted((a, b) => a.level - b.level)
        .map(({ kind, name, state, detail }) => (
          <li key={`${kind}/${name}`} class={state}>
            <b>{state}</b> {kind} {name}
            {detail !== undefined && `: ${detail}`}
          </li>
        ))}
    </ol>
  </section>
);

const evidenceOf = ({ expired, candidates, threshold, runs, lastAt }: RecordedDecision): string => {
  const counts =
    expired === undefined || candidates === undefined
      ? []
      : [`${expired} of ${candidates} expired, threshold ${Math.round(threshold * 100)} %`];
  return [...counts, ...(runs > 1 ? [`the same in ${runs} runs, until ${clockTime(lastAt)}`] : [])].join('; ');
};

const Decisions = ({ decisions }: { readonly decisions: readonly RecordedDecision[] }) => (
  <section aria-label="Decisions">
    <h3>Decisions, the latest first</h3>
    <ol class="decisions">
      {decisions.toReversed().map((decision) => (
        <li key={`${decision.at} ${decision.reason}`}>
          <time dateTime={decision.at}>{clockTime(decision.at)}</time> <b>{decision.verdict}</b> {decision.reason}{' '}
          <small>{evidenceOf(decision)}</small>
        </li>
      ))}
    </ol>
  </section>
);

const Commands = ({ shoot }: { readonly shoot: ShootStatus }) => {
  const [copied, setCopied] = useState<string>();
  const copy = (line: string): void =>
    void navigator.clipboard.writeText(line).then(
      () => setCopied(line),
      () => setCopied(undefined),
    );
  return (
    <section aria-label="Commands">
      <h3>Commands for other actions</h3>
      <dl class="commands">
        {commandsFor(shoot).map(({ about, line }) => (
          <div key={line}>
            <dt>{about}</dt>
            <dd>
              <code>{line}</code>
              <button type="button" aria-label={`Copy: ${about}`} onClick={() => copy(line)}>
                {copied === line ? 'Copied' : 'Copy'}
              </button>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
};

export interface ShootProps {
  readonly shoot: ShootStatus;
  readonly now: number;
  /** Defined only in the demo. */
  readonly faults: FaultsOfShoot | undefined;
  readonly onFault: (kind: FaultKind) => void;
  readonly onClose: () => void;
}

/** Shows one shoot with its evidence. Takes the focus when another shoot is selected. */
export const Shoot = ({ shoot, now, faults, onFault, onClose }: ShootProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [shoot.namespace]);
  const { leases = [], scaling = null, decisions = [] } = shoot;
  return (
    <aside
      aria-label={`Shoot ${titleOf(shoot)}`}
      class="shoot"
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose();
      }}
    >
      <button type="button" class="close" onClick={onClose}>
        Close
      </button>
      <h2 ref={heading} tabIndex={-1}>
        {titleOf(shoot)}
      </h2>
      <p>
        <StateBadge state={shoot.state} /> for {since(shoot.since, now)}: {shoot.why}
      </p>
      <p>Next: {nextOf(shoot, now)}</p>
      {shoot.do !== '' && <p>Do: {shoot.do}</p>}
      {shoot.paused !== null && (
        <p>
          Paused by {shoot.paused.by}: {shoot.paused.reason}
        </p>
      )}
      {shoot.held.length > 0 && <Held held={shoot.held} now={now} />}
      {faults !== undefined && <Faults faults={faults} onFault={onFault} />}
      {leases.length > 0 && <Leases shoot={shoot} leases={leases} now={now} />}
      {scaling !== null && <Flow scaling={scaling} now={now} />}
      {decisions.length > 0 && <Decisions decisions={decisions} />}
      <Commands shoot={shoot} />
    </aside>
  );
};
