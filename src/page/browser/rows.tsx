import { useState } from 'preact/hooks';
import { titleOf } from '../../status/state/find-shoot.ts';
import type { ShootGroup } from '../../status/state/judge-seed.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { classOf } from './states.ts';
import { Since, StateBadge, Told } from './told.tsx';

/** Number of rows shown at first. A button shows the others. */
const rowsAtOnce = 100;

interface Common {
  readonly now: number;
  readonly selected: string | undefined;
  readonly onSelect: (namespace: string) => void;
}

interface RowProps extends Common {
  readonly shoot: ShootStatus;
}

/** True if the user has just selected text, to copy it. */
const hasSelection = (): boolean => getSelection()?.isCollapsed === false;

const Row = ({ shoot, now, selected, onSelect }: RowProps) => {
  const isSelected = shoot.namespace === selected;
  const onClick = ({ target }: MouseEvent): void => {
    if (!hasSelection() && !(target instanceof Element && target.closest('button') !== null)) onSelect(shoot.namespace);
  };
  return (
    <li class={`row ${classOf(shoot.state)} ${isSelected ? 'selected' : ''}`} onClick={onClick}>
      <div class="who">
        <StateBadge shoot={shoot} />
        <button type="button" class="name" aria-pressed={isSelected} onClick={() => onSelect(shoot.namespace)}>
          {titleOf(shoot)}
        </button>
        <Since at={shoot.since} now={now} />
      </div>
      <Told shoot={shoot} now={now} />
    </li>
  );
};

interface GroupProps extends Common {
  readonly group: ShootGroup<ShootStatus>;
}

/** Equal shoots as one row, which shows the words of the first of them; a click lists all. */
const Group = ({ group: { first, shoots }, now, selected, onSelect }: GroupProps) => {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li class={`row ${classOf(first.state)}`}>
      <div class="who">
        <StateBadge shoot={first} />
        <button type="button" class="name" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {shoots.length} shoots
        </button>
        <Since at={first.since} now={now} />
      </div>
      <div>
        <p class="quiet">such as {titleOf(first)}:</p>
        <Told shoot={first} now={now} />
        {isOpen && (
          <p class="members">
            {shoots.map((shoot) => (
              <button
                type="button"
                key={shoot.namespace}
                class="name"
                aria-pressed={shoot.namespace === selected}
                onClick={() => onSelect(shoot.namespace)}
              >
                {titleOf(shoot)}
              </button>
            ))}
          </p>
        )}
      </div>
    </li>
  );
};

export interface RowsProps extends Common {
  readonly groups: readonly ShootGroup<ShootStatus>[];
}

/** Shows shoots as `dwd status` does, the most urgent first, equal ones folded. */
export const Rows = ({ groups, ...common }: RowsProps) => {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? groups : groups.slice(0, rowsAtOnce);
  return (
    <section aria-label="Shoots to look at" class="rows">
      <ul>
        {shown.map((group) =>
          group.shoots.length === 1 ? (
            <Row key={group.first.namespace} shoot={group.first} {...common} />
          ) : (
            <Group key={`all like ${group.first.namespace}`} group={group} {...common} />
          ),
        )}
      </ul>
      {groups.length > shown.length && (
        <button type="button" onClick={() => setShowsAll(true)}>
          Show {groups.length - shown.length} more
        </button>
      )}
    </section>
  );
};
