import { useMemo, useRef, useState } from 'preact/hooks';
import type { ShootStatus } from '../../status/state/schema.ts';
import { classOf, states, titleOf } from './states.ts';

interface CellProps {
  readonly shoot: ShootStatus;
  readonly isSelected: boolean;
  readonly hasFocusStop: boolean;
}

/** Reuses its element if nothing visible has changed, because a page with 1,000 cells compares all of them every second. */
const Cell = ({ shoot, isSelected, hasFocusStop }: CellProps) => {
  const { namespace, state } = shoot;
  const label = `${titleOf(shoot)}: ${state}, ${shoot.why}`;
  return useMemo(
    () => (
      <div
        role="option"
        class={`cell ${classOf(state)}`}
        data-shoot={namespace}
        tabIndex={hasFocusStop ? 0 : -1}
        aria-selected={isSelected}
        aria-label={label}
        title={label}
      >
        <span aria-hidden="true">{states[state].sign}</span>
      </div>
    ),
    [namespace, state, label, isSelected, hasFocusStop],
  );
};

/** Returns the number of cells in the first row. */
const columnsOf = (cells: readonly HTMLElement[]): number => {
  const top = cells[0]?.offsetTop;
  const next = cells.findIndex(({ offsetTop }) => offsetTop !== top);
  return next === -1 ? cells.length : next;
};

const stepOf = (key: string, columns: number, count: number): number | undefined => {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -count,
    End: count,
  };
  return steps[key];
};

const sizeOf = (count: number): string => {
  if (count > 400) return 'small';
  return count > 60 ? 'middle' : 'large';
};

export interface GridProps {
  readonly shoots: readonly ShootStatus[];
  readonly selected: string | undefined;
  readonly onSelect: (namespace: string) => void;
}

/** Shows all shoots as a listbox: one tab stop, arrow keys to move, Enter or Space to select. */
export const Grid = ({ shoots, selected, onSelect }: GridProps) => {
  const list = useRef<HTMLDivElement>(null);
  const [visited, setVisited] = useState<string>();
  const wanted = visited ?? selected;
  const stop = shoots.some(({ namespace }) => namespace === wanted) ? wanted : shoots[0]?.namespace;

  const onKeyDown = (event: KeyboardEvent): void => {
    const cells = [...(list.current?.children ?? [])] as HTMLElement[];
    const index = cells.findIndex((cell) => cell === event.target);
    const namespace = cells[index]?.dataset.shoot;
    if (namespace === undefined) return;
    if (event.key === 'Enter' || event.key === ' ') onSelect(namespace);
    else {
      const step = stepOf(event.key, columnsOf(cells), cells.length);
      if (step === undefined) return;
      const next = cells[Math.max(0, Math.min(cells.length - 1, index + step))];
      setVisited(next?.dataset.shoot);
      next?.focus();
    }
    event.preventDefault();
  };
  const onClick = ({ target }: MouseEvent): void => {
    const namespace = target instanceof Element ? target.closest<HTMLElement>('.cell')?.dataset.shoot : undefined;
    if (namespace === undefined) return;
    setVisited(namespace);
    onSelect(namespace);
  };
  return (
    <div
      ref={list}
      role="listbox"
      aria-label={`${shoots.length} shoots`}
      class={`grid ${sizeOf(shoots.length)}`}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      {shoots.map((shoot) => (
        <Cell
          key={shoot.namespace}
          shoot={shoot}
          isSelected={shoot.namespace === selected}
          hasFocusStop={shoot.namespace === stop}
        />
      ))}
    </div>
  );
};
