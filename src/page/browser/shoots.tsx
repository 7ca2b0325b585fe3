import { useMemo, useState } from 'preact/hooks';
import type { ShootStatus, ShootState } from '../../status/state/schema.ts';
import { Grid } from './grid.tsx';
import { type Filter, classOf, countByState, isPlainHealthy, matches, sorted, stateNames, states } from './states.ts';
import { Table } from './table.tsx';

const noStates: ReadonlySet<ShootState> = new Set();

const toggled = <T,>(set: ReadonlySet<T>, item: T): ReadonlySet<T> =>
  set.has(item) ? new Set([...set].filter((other) => other !== item)) : new Set([...set, item]);

interface FilterProps {
  readonly filter: Filter;
  readonly counts: ReadonlyMap<ShootState, number>;
  readonly onChange: (filter: Filter) => void;
}

/** The search field, and the legend, whose entries filter by state. */
const Filters = ({ filter, counts, onChange }: FilterProps) => (
  <div class="filters">
    <label>
      Search
      <input
        type="search"
        value={filter.text}
        onInput={({ currentTarget: { value } }) => onChange({ ...filter, text: value })}
      />
    </label>
    <div role="group" aria-label="Filter by state" class="legend">
      {stateNames
        .filter((state) => counts.has(state) || filter.states.has(state))
        .map((state) => (
          <button
            type="button"
            key={state}
            title={states[state].about}
            aria-pressed={filter.states.has(state)}
            onClick={() => onChange({ ...filter, states: toggled(filter.states, state) })}
          >
            <span class={`cell ${classOf(state)}`} aria-hidden="true">
              {states[state].sign}
            </span>
            {counts.get(state) ?? 0} {state}
          </button>
        ))}
    </div>
  </div>
);

export interface ShootsProps {
  readonly shoots: readonly ShootStatus[];
  readonly now: number;
  readonly selected: string | undefined;
  readonly onSelect: (namespace: string) => void;
}

export const Shoots = ({ shoots, now, selected, onSelect }: ShootsProps) => {
  const [filter, setFilter] = useState<Filter>({ text: '', states: noStates });
  const counts = useMemo(() => countByState(shoots), [shoots]);
  const byName = useMemo(() => shoots.toSorted((a, b) => a.namespace.localeCompare(b.namespace, 'en')), [shoots]);
  const found = byName.filter((shoot) => matches(shoot, filter));
  const isFiltered = filter.text.trim() !== '' || filter.states.size > 0;
  const listed = isFiltered ? found : found.filter((shoot) => !isPlainHealthy(shoot));
  return (
    <section aria-label="Shoots" class="shoots">
      <Filters filter={filter} counts={counts} onChange={setFilter} />
      <Grid shoots={found} selected={selected} onSelect={onSelect} />
      <Table
        shoots={sorted(listed)}
        healthy={found.length - listed.length}
        now={now}
        selected={selected}
        onSelect={onSelect}
      />
    </section>
  );
};
