import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatAge } from '../../kubernetes/api/duration.ts';
import { titleOf } from '../../status/state/find-shoot.ts';
import { type OutageStep, stepsOfOutage } from '../../status/state/outage.ts';
import type { LeaseEvidence, RecordedDecision, ScalingProgress, ShootStatus } from '../../status/state/schema.ts';
import { type LeaseState, plural, stateOfLease } from '../../status/state/words.ts';
import type { FaultKind, FaultsOfShoot } from '../feed/index.ts';
import { commandsFor } from './commands.ts';
import { Command, Since, StateBadge, Time, Told, since } from './told.tsx';

/** Asks the demo for a fault or its repair. Rejects with the server's error message. */
const injectFault = async (namespace: string, kind: FaultKind): Promise<void> => {
  const query = new URLSearchParams({ namespace, kind });
  const answer = await fetch(`demo/faults?${query.toString()}`, { method: 'POST' });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
};

/** The buttons of the demo, each labelled with its next action. */
const Faults = ({ faults: { namespace, kubelets, etcd } }: { readonly faults: FaultsOfShoot }) => {
  const [problem, setProblem] = useState<string>();
  const inject = (kind: FaultKind): void =>
    void injectFault(namespace, kind).then(
      () => setProblem(undefined),
      (error: unknown) => setProblem(String(error)),
    );
  return (
    <div role="group" aria-label="Faults of the demo" class="faults">
      <button type="button" onClick={() => inject(kubelets === 'cut' ? 'connect kubelets' : 'cut kubelets')}>
        {kubelets === 'cut' ? 'Connect its kubelets' : 'Cut its kubelets off'}
      </button>
      <button type="button" onClick={() => inject(etcd === 'down' ? 'mend etcd' : 'break etcd')}>
        {etcd === 'down' ? 'Mend its etcd' : 'Kill its etcd'}
      </button>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </div>
  );
};

/** The present outage step by step, each with the time since the step before. */
const Outage = ({ steps }: { readonly steps: readonly OutageStep[] }) => (
  <section aria-label="Outage">
    <h3>This outage</h3>
    <ol class="steps">
      {steps.map(({ at, what, detail }, index) => (
        <li key={`${at} ${what} ${detail}`} class="done">
          <Time at={at} /> {index > 0 && <small>+{since(steps[index - 1]?.at ?? at, Date.parse(at))}</small>}{' '}
          <b>{what}</b> {detail}
        </li>
      ))}
    </ol>
  </section>
);

const Scaling = ({ scaling, now }: { readonly scaling: ScalingProgress; readonly now: number }) => (
  <section aria-label="Scaling">
    <h3>
      Scaling {scaling.direction}{' '}
      <small>
        for {since(scaling.startedAt, now)}
        {scaling.withoutLead && `, without the lead: ${scaling.withoutLead}`}
      </small>
    </h3>
    <ol class="steps">
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

const Held = ({ shoot, now }: { readonly shoot: ShootStatus; readonly now: number }) => (
  <section aria-label="Held">
    <h3>Held</h3>
    <ul>
      {shoot.held.map(({ kind, name, replicas, since: time }) => (
        <li key={`${kind}/${name}`}>
          {kind} {name}, {shoot.notProbed === undefined ? 'to be restored to' : 'at 0 instead of'} {replicas};{' '}
          <Since at={time} now={now} />
        </li>
      ))}
    </ul>
  </section>
);

/** Oldest renewal first, as in `dwd explain`; those that do not count last. */
const inOrder = (leases: readonly LeaseEvidence[]): readonly LeaseEvidence[] =>
  leases.toSorted(
    (a, b) =>
      Number(b.counted) - Number(a.counted) ||
      (b.ageMs ?? Infinity) - (a.ageMs ?? Infinity) ||
      (a.name < b.name ? -1 : 1),
  );

const judgements: Readonly<Record<LeaseState, (lease: LeaseEvidence) => string>> = {
  'left out': ({ leftOut = '' }) => `, does not count: ${leftOut}`,
  expired: () => ' expired',
  late: () => ', not expired yet',
  renewed: () => '',
};

interface LeasesProps {
  readonly shoot: ShootStatus;
  readonly leases: readonly LeaseEvidence[];
  readonly now: number;
}

/** Shows the ages of leases when they were last read as bars, with lines at the expiry age and at KCM's grace period. */
const Leases = ({ shoot, leases, now }: LeasesProps) => {
  const { leaseExpiryMs, graceMs, lookedAt, failing } = shoot;
  const full = graceMs * 1.25;
  const percent = (ms: number): string => `${Math.max(0, Math.min(100, (100 * ms) / full)).toFixed(1)}%`;
  return (
    <section aria-label="Leases">
      <h3>
        Leases{' '}
        {lookedAt !== undefined && (
          <small class={failing === undefined ? '' : 'aged'}>
            as of <Time at={lookedAt} /> UTC, {since(lookedAt, now)} ago
          </small>
        )}
      </h3>
      <div class="leases" style={{ '--expiry': percent(leaseExpiryMs), '--grace': percent(graceMs) }}>
        <p class="limits">
          <span>expires {formatAge(leaseExpiryMs)}</span> <span>KCM {formatAge(graceMs)}</span>
        </p>
        <ul>
          {inOrder(leases).map((lease) => {
            const { name, ageMs } = lease;
            const state = stateOfLease(lease, shoot);
            const age = ageMs === undefined ? 'never renewed' : formatAge(ageMs);
            return (
              <li key={name} class={state.replace(' ', '-')} style={{ '--age': percent(ageMs ?? full) }}>
                <span>{name}</span> <span>{`${age}${judgements[state](lease)}`}</span>
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
};

const Decisions = ({ decisions }: { readonly decisions: readonly RecordedDecision[] }) => (
  <details>
    <summary>{plural(decisions.length, 'decision')}, the latest first</summary>
    <ol class="decisions">
      {decisions.toReversed().map(({ at, lastAt, verdict, reason, runs }) => (
        <li key={`${at} ${verdict} ${reason}`}>
          <Time at={at} /> <b>{verdict}</b> {reason}{' '}
          {runs > 1 && (
            <small>
              {plural(runs, 'run')} until <Time at={lastAt} />
            </small>
          )}
        </li>
      ))}
    </ol>
  </details>
);

const Commands = ({ shoot }: { readonly shoot: ShootStatus }) => (
  <section aria-label="Commands">
    <h3>Commands</h3>
    {commandsFor(shoot).map(({ about, line }) => (
      <p key={line}>
        {about} <Command {...{ about, line }} />
      </p>
    ))}
  </section>
);

export interface ShootProps {
  readonly shoot: ShootStatus;
  readonly now: number;
  /** Defined only in the demo. */
  readonly faults: FaultsOfShoot | undefined;
  readonly onClose: () => void;
}

/** Shows one shoot with its evidence. Takes the focus when another shoot is selected. */
export const Shoot = ({ shoot, now, faults, onClose }: ShootProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), [shoot.namespace]);
  const { leases = [], scaling = null, decisions = [], held } = shoot;
  const steps = stepsOfOutage(shoot);
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
      <p class="who">
        <StateBadge shoot={shoot} /> <Since at={shoot.since} now={now} /> <small>{shoot.namespace}</small>
      </p>
      {faults !== undefined && <Faults faults={faults} />}
      <Told shoot={shoot} now={now} />
      {steps.length > 0 && <Outage steps={steps} />}
      {scaling !== null && <Scaling scaling={scaling} now={now} />}
      {held.length > 0 && <Held shoot={shoot} now={now} />}
      {leases.length > 0 && <Leases shoot={shoot} leases={leases} now={now} />}
      {decisions.length > 0 && <Decisions decisions={decisions} />}
      <Commands shoot={shoot} />
    </aside>
  );
};
