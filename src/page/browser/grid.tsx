import { useMemo, useRef, useState } from 'preact/hooks';
import { titleOf } from '../../status/state/find-shoot.ts';
import { stateInWords } from '../../status/state/judge-seed.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { byProject, classOf, signs } from './states.ts';

interface TileProps {
  readonly shoot: ShootStatus;
  readonly isSelected: boolean;
  readonly hasFocusStop: boolean;
}

/** Reuses its element if nothing visible has changed, because a page with 1,000 tiles compares all of them every second. */
const Tile = ({ shoot, isSelected, hasFocusStop }: TileProps) => {
  const { namespace, state } = shoot;
  const label = `${titleOf(shoot)}: ${stateInWords(shoot)}, ${shoot.why}`;
  return useMemo(
    () => (
      <div
        role="option"
        class={`tile ${classOf(state)}`}
        data-shoot={namespace}
        tabIndex={hasFocusStop ? 0 : -1}
        aria-selected={isSelected}
        aria-label={label}
        title={label}
      >
        <span aria-hidden="true">{signs[state]}</span>
      </div>
    ),
    [namespace, state, label, isSelected, hasFocusStop],
  );
};

/** Returns the tile in the next row above or below that is nearest to the one at `index`. */
const tileBeyond = (tiles: readonly HTMLElement[], index: number, direction: 1 | -1): HTMLElement | undefined => {
  const from = tiles[index];
  if (from === undefined) return undefined;
  const beyond = tiles.filter(({ offsetTop }) => (offsetTop - from.offsetTop) * direction > 0);
  const row = direction === 1 ? beyond[0]?.offsetTop : beyond.at(-1)?.offsetTop;
  const distance = ({ offsetLeft }: HTMLElement): number => Math.abs(offsetLeft - from.offsetLeft);
  return beyond.filter(({ offsetTop }) => offsetTop === row).toSorted((a, b) => distance(a) - distance(b))[0];
};

const tileAfter = (key: string, tiles: readonly HTMLElement[], index: number): HTMLElement | undefined => {
  const beside: Readonly<Record<string, HTMLElement | undefined>> = {
    ArrowRight: tiles[index + 1],
    ArrowLeft: tiles[index - 1],
    ArrowDown: tileBeyond(tiles, index, 1),
    ArrowUp: tileBeyond(tiles, index, -1),
    Home: tiles[0],
    End: tiles.at(-1),
  };
  return beside[key];
};

const sizeOf = (count: number): string => (count > 400 ? '14px' : count > 60 ? '18px' : '26px');

export interface GridProps {
  readonly shoots: readonly ShootStatus[];
  readonly selected: string | undefined;
  readonly onSelect: (namespace: string) => void;
}

/** Shows all shoots by project as a listbox: one tab stop, arrow keys to move, Enter or Space to select. */
export const Grid = ({ shoots, selected, onSelect }: GridProps) => {
  const list = useRef<HTMLDivElement>(null);
  const [visited, setVisited] = useState<string>();
  const projects = useMemo(() => [...byProject(shoots)], [shoots]);
  const wanted = visited ?? selected;
  const isShown = shoots.some(({ namespace }) => namespace === wanted);
  const stop = isShown ? wanted : projects[0]?.[1][0]?.namespace;

  const onKeyDown = (event: KeyboardEvent): void => {
    const tiles = [...(list.current?.querySelectorAll<HTMLElement>('.tile') ?? [])];
    const index = tiles.findIndex((tile) => tile === event.target);
    const namespace = tiles[index]?.dataset.shoot;
    if (namespace === undefined) return;
    const next = tileAfter(event.key, tiles, index);
    if (event.key === 'Enter' || event.key === ' ') onSelect(namespace);
    else if (next === undefined) return;
    setVisited(next?.dataset.shoot);
    next?.focus();
    event.preventDefault();
  };
  const onClick = ({ target }: MouseEvent): void => {
    const namespace = target instanceof Element ? target.closest<HTMLElement>('.tile')?.dataset.shoot : undefined;
    if (namespace === undefined) return;
    setVisited(namespace);
    onSelect(namespace);
  };
  return (
    <div
      ref={list}
      role="listbox"
      aria-label={`${String(shoots.length)} shoots`}
      class="grid"
      style={{ '--size': sizeOf(shoots.length) }}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      {projects.map(([project, those]) => (
        <div key={project} role="group" aria-label={project} class="project">
          <span class="quiet" aria-hidden="true">
            {project}
          </span>
          <div class="tiles">
            {those.map((shoot) => (
              <Tile
                key={shoot.namespace}
                shoot={shoot}
                isSelected={shoot.namespace === selected}
                hasFocusStop={shoot.namespace === stop}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
};
