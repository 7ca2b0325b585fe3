import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { titleOf } from '../../status/state/find-shoot.ts';
import { type OutageStep, stepsOfOutage } from '../../status/state/outage.ts';
import type { RecordedDecision, ScalingProgress, ShootStatus } from '../../status/state/schema.ts';
import { plural } from '../../status/state/words.ts';
import type { FaultKind, FaultsOfShoot } from '../feed/index.ts';
import { commandsFor } from './commands.ts';
import { Leases } from './leases.tsx';
import { Command, Since, StateBadge, Time, Told, since } from './told.tsx';

/** Asks the demo for a fault or its repair. Rejects with the server's error message. */
const injectFault = async (namespace: string, kind: FaultKind): Promise<void> => {
  const answer = await fetch('demo/faults', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ namespace, kind }),
  });
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

const Held = ({ held, now }: { readonly held: ShootStatus['held']; readonly now: number }) => (
  <section aria-label="Held">
    <h3>Held</h3>
    <ul>
      {held.map(({ kind, name, replicas, since: time }) => (
        <li key={`${kind}/${name}`}>
          {kind} {name}, to be restored to {replicas}; <Since at={time} now={now} />
        </li>
      ))}
    </ul>
  </section>
);

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
      {held.length > 0 && <Held held={held} now={now} />}
      {leases.length > 0 && <Leases shoot={shoot} leases={leases} now={now} />}
      {decisions.length > 0 && <Decisions decisions={decisions} />}
      <Commands shoot={shoot} />
    </aside>
  );
};
