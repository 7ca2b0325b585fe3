import { useState } from 'preact/hooks';
import { titleOf } from '../../status/state/find-shoot.ts';
import type { ShootGroup } from '../../status/state/judge-seed.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { classOf } from './states.ts';
import { Since, StateBadge, Told } from './told.tsx';

interface RowProps {
  readonly group: ShootGroup<ShootStatus>;
  readonly now: number;
  readonly selected: string | undefined;
  readonly onSelect: (namespace: string) => void;
}

/** A shoot, or equal ones as one row, which shows the words of the first of them. A click opens the shoot, or lists the equal ones. */
const Row = ({ group: { first, shoots }, now, selected, onSelect }: RowProps) => {
  const [isOpen, setIsOpen] = useState(false);
  const isOne = shoots.length === 1;
  const isSelected = isOne && first.namespace === selected;
  const act = (): void => (isOne ? onSelect(first.namespace) : setIsOpen(!isOpen));
  const onClick = ({ target }: MouseEvent): void => {
    // The user may have selected text, to copy it.
    const isFree = getSelection()?.isCollapsed !== false;
    if (isFree && target instanceof Element && target.closest('button') === null) act();
  };
  return (
    <li class={`row ${classOf(first.state)} ${isSelected ? 'selected' : ''}`} onClick={onClick}>
      <div class="who">
        <StateBadge shoot={first} />
        <button type="button" class="name" aria-expanded={isOne ? undefined : isOpen} onClick={act}>
          {isOne ? titleOf(first) : `${String(shoots.length)} shoots`}
        </button>
        <Since at={first.since} now={now} />
      </div>
      <div>
        {!isOne && <p class="quiet">such as {titleOf(first)}:</p>}
        <Told shoot={first} now={now} />
        {isOpen && (
          <p class="members">
            {shoots.map((shoot) => (
              <button type="button" key={shoot.namespace} class="name" onClick={() => onSelect(shoot.namespace)}>
                {titleOf(shoot)}
              </button>
            ))}
          </p>
        )}
      </div>
    </li>
  );
};

interface RowsProps extends Omit<RowProps, 'group'> {
  readonly groups: readonly RowProps['group'][];
}

/** Shows shoots as `dwd status` does, the most urgent first, equal ones folded. */
export const Rows = ({ groups, ...common }: RowsProps) => (
  <section aria-label="Shoots to look at" class="rows">
    <ul>
      {groups.map((group) => (
        <Row key={`${group.first.namespace} ${String(group.shoots.length > 1)}`} group={group} {...common} />
      ))}
    </ul>
  </section>
);
