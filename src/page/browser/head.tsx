import type { RefObject } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { podOfHolder } from '../../kubernetes/api/pod-of-holder.ts';
import { attentionOf } from '../../status/state/attention.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { states } from '../../status/state/states.ts';
import { type Seed, oldness, serverTime } from './feed.ts';
import alarm from './icon-alarm.svg';
import calm from './icon-calm.svg';
import eyes from './icon-eyes.svg';
import { type Filter, classOf, counters, countOf, lookOf, rareCounters } from './states.ts';
import { Command, Time, since } from './told.tsx';

const icons = { alarm, calm, eyes };

interface HeadProps {
  readonly seed: Seed;
  readonly now: number;
}

/** Shows as dots whether the page is live, and whose view it is. */
const Dots = ({ seed, now }: HeadProps) => {
  const { status } = seed.view;
  const at = serverTime(seed, now);
  const { leads, leadsSince, identity, standby, lastRoundEndedAt } = status;
  const oldMs = oldness(seed, now);
  return (
    <ul class="dots">
      <li class={oldMs === undefined ? 'on' : 'off'} role="status">
        {oldMs === undefined ? 'live' : `old: no answer for ${since(status.at, Date.parse(status.at) + oldMs)}`}
      </li>
      <li class={leads ? 'on' : ''}>
        {leads ? 'leader' : `${standby} standby`} {podOfHolder(identity)}
        {leadsSince !== undefined && <Time at={leadsSince}> for {since(leadsSince, at)}</Time>}
        {lastRoundEndedAt !== undefined && (
          <Time at={lastRoundEndedAt}>, last round {since(lastRoundEndedAt, at)} ago</Time>
        )}
      </li>
    </ul>
  );
};

/** Says whose view this is, if it is not the leader's, and how to reach that. */
const Standby = ({ seed: { view } }: Pick<HeadProps, 'seed'>) => {
  const { namespace } = view;
  const line = `dwd page${namespace === undefined ? '' : ` --namespace ${namespace}`}`;
  return (
    <li>
      This is the view of {podOfHolder(view.status.identity)}, which does not lead; that of the leader is opened by{' '}
      <Command line={line} about="open the leader's page" />
    </li>
  );
};

/** The seed in one line, and what is wrong with its prober. Names the tab and gives it its icon, too. */
export const Head = ({ seed, now }: HeadProps) => {
  const { status } = seed.view;
  const name = status.seed ?? 'without a name';
  const { sentence, worst, title, icon } = useMemo(() => lookOf(name, status.shoots), [name, status.shoots]);
  const isOld = oldness(seed, now) !== undefined;
  useEffect(() => {
    document.title = isOld ? `(?) ${name}` : title;
    document.querySelector('link[rel=icon]')?.setAttribute('href', icons[icon]);
  }, [isOld, name, title, icon]);
  const warnings = [...attentionOf(status), ...(status.dryRun ? ['dry run: nothing is written'] : [])];
  return (
    <header>
      <h1>
        seed {name} <span class={`verdict ${classOf(worst)}`}>{sentence}</span>
      </h1>
      <Dots seed={seed} now={now} />
      <ul class="warnings" aria-label="Warnings">
        {!status.leads && <Standby seed={seed} />}
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </header>
  );
};

interface CountersProps {
  readonly shoots: readonly ShootStatus[];
  readonly filter: Filter;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onChange: (filter: Filter) => void;
}

/** Numbers of shoots by urgency, each a button that filters by it, and the search field. */
export const Counters = ({ shoots, filter, search, onChange }: CountersProps) => (
  <div role="group" aria-label="Filter by state" class="counters">
    {counters.map((counter) => {
      const count = countOf(counter, shoots);
      const isPressed = filter.counter === counter;
      if (rareCounters.includes(counter) && count === 0 && !isPressed) return null;
      return (
        <button
          type="button"
          key={counter}
          class={count === 0 ? 'none' : classOf(counter)}
          title={states[counter].about}
          aria-pressed={isPressed}
          onClick={() => onChange({ ...filter, counter: isPressed ? undefined : counter })}
        >
          <b>{count}</b> {counter}
        </button>
      );
    })}
    <input
      type="search"
      ref={search}
      aria-label="Search"
      placeholder="Search ( / )"
      value={filter.text}
      onInput={({ currentTarget: { value } }) => onChange({ ...filter, text: value })}
    />
  </div>
);
