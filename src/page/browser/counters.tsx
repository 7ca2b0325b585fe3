import type { RefObject } from 'preact';
import type { ShootStatus } from '../../status/state/schema.ts';
import { type Filter, classOf, counters, countOf, states } from './states.ts';

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
      const isPressed = filter.counter?.name === counter.name;
      if (counter.isRare === true && count === 0 && !isPressed) return null;
      return (
        <button
          type="button"
          key={counter.name}
          class={count === 0 ? 'none' : classOf(counter.name)}
          title={states[counter.name].about}
          aria-pressed={isPressed}
          onClick={() => onChange({ ...filter, counter: isPressed ? undefined : counter })}
        >
          <b>{count}</b> {counter.name}
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
