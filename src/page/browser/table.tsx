import { useState } from 'preact/hooks';
import type { ShootStatus } from '../../status/state/schema.ts';
import { classOf, heldOf, leasesOf, titleOf } from './states.ts';
import { duration, since } from './times.ts';

/** Number of rows shown at first. A button shows the others. */
const rowsAtOnce = 100;

export const StateBadge = ({ state }: Pick<ShootStatus, 'state'>) => (
  <span class={`badge ${classOf(state)}`}>{state}</span>
);

/** Describes the next step, and the time until it happens at the latest. */
export const nextOf = ({ next }: ShootStatus, now: number): string => {
  const at = Date.parse(next.at ?? '');
  return Number.isNaN(at) ? next.text : `${next.text} in ${duration(at - now)}`;
};

interface RowProps {
  readonly shoot: ShootStatus;
  readonly isSelected: boolean;
  readonly now: number;
  readonly onSelect: (namespace: string) => void;
}

const Row = ({ shoot, isSelected, now, onSelect }: RowProps) => (
  <tr class={isSelected ? 'selected' : ''}>
    <th scope="row">
      <button type="button" aria-pressed={isSelected} onClick={() => onSelect(shoot.namespace)}>
        {titleOf(shoot)}
      </button>
    </th>
    <td>
      <StateBadge state={shoot.state} />
    </td>
    <td data-column="Leases">{leasesOf(shoot)}</td>
    <td data-column="Since">{since(shoot.since, now)}</td>
    <td data-column="Held">{heldOf(shoot)}</td>
    <td data-column="Next">
      {shoot.why}
      {shoot.do !== '' && <p>{shoot.do}</p>}
      <p>{nextOf(shoot, now)}</p>
    </td>
  </tr>
);

export interface TableProps {
  readonly shoots: readonly ShootStatus[];
  /** Number of healthy shoots that are not listed. */
  readonly healthy: number;
  readonly selected: string | undefined;
  readonly now: number;
  readonly onSelect: (namespace: string) => void;
}

/** Shows shoots with the columns of `dwd status`. */
export const Table = ({ shoots, healthy, selected, now, onSelect }: TableProps) => {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? shoots : shoots.slice(0, rowsAtOnce);
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            {['Shoot', 'State', 'Leases', 'Since', 'Held', 'Next'].map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((shoot) => (
            <Row
              key={shoot.namespace}
              shoot={shoot}
              isSelected={shoot.namespace === selected}
              now={now}
              onSelect={onSelect}
            />
          ))}
        </tbody>
      </table>
      {shoots.length > shown.length && (
        <button type="button" onClick={() => setShowsAll(true)}>
          Show {shoots.length - shown.length} more
        </button>
      )}
      {healthy > 0 && <p class="rest">{healthy} healthy, not listed</p>}
    </div>
  );
};
