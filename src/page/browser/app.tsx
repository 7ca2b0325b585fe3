import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { findShoot, noSuchShoot } from '../../status/state/find-shoot.ts';
import { foldShoots, needsEyes, worstFirst } from '../../status/state/judge-seed.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { type Seed, oldness, serverTime, useSeed, useTick } from './feed.ts';
import { Grid } from './grid.tsx';
import { Counters, Head } from './head.tsx';
import { Rows } from './rows.tsx';
import { Shoot } from './shoot.tsx';
import { type Filter, isEmpty, matches } from './states.ts';
import { Timeline } from './timeline.tsx';

const prefix = '#shoot=';

/** Returns the shoot that the address names, which may be typed by hand. */
const shootOfAddress = (): string | undefined => {
  if (!location.hash.startsWith(prefix)) return undefined;
  const text = location.hash.slice(prefix.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

type Select = (namespace: string | undefined) => void;

/** Keeps the namespace of the open shoot in the address, so that users can share it. When the shoot closes, the element that opened it regains the focus. */
const useSelection = (): readonly [string | undefined, Select] => {
  const [selected, setSelected] = useState(shootOfAddress);
  useEffect(() => {
    const onChange = (): void => setSelected(shootOfAddress());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  const opener = useRef<Element>(null);
  const select: Select = (namespace) => {
    if (namespace !== undefined) opener.current = document.activeElement;
    else if (opener.current instanceof HTMLElement) opener.current.focus();
    location.hash = namespace === undefined ? '' : prefix + encodeURIComponent(namespace);
  };
  return [selected, select];
};

/** Calls the action of a key, except while the user types or holds another key. */
const useKeys = (keys: Readonly<Record<string, () => void>>): void => {
  // What the latest render knows: effects run later, and a second key may come before.
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      const act = Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      if (ctrlKey || metaKey || altKey || target instanceof HTMLInputElement || act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
};

interface OpenShootProps {
  readonly seed: Seed;
  readonly now: number;
  /** What the address names, as in every command of `dwd`. */
  readonly wanted: string;
  readonly onClose: () => void;
}

const OpenShoot = ({ seed, now, wanted, onClose }: OpenShootProps) => {
  const { status, faults, shoot: detailed } = seed.view;
  const listed = findShoot(status.shoots, wanted);
  if (listed === undefined) {
    return (
      <p class="missing">
        {noSuchShoot(wanted, status.shoots)} <a href="#">Close</a>
      </p>
    );
  }
  // Until the details arrive, the shoot of the list is shown.
  const shoot = detailed?.namespace === listed.namespace ? detailed : listed;
  const faultsOfIt = faults?.find(({ namespace }) => namespace === listed.namespace);
  return <Shoot shoot={shoot} now={serverTime(seed, now)} faults={faultsOfIt} onClose={onClose} />;
};

const noShoots: readonly ShootStatus[] = [];

export const App = () => {
  const [selected, select] = useSelection();
  const seed = useSeed(selected);
  const now = useTick();
  const [filter, setFilter] = useState<Filter>({ text: '' });
  const search = useRef<HTMLInputElement>(null);
  const shoots = seed?.view.status.shoots ?? noShoots;
  const found = useMemo(() => shoots.filter((shoot) => matches(shoot, filter)), [shoots, filter]);
  // Without a filter, only those that need eyes.
  const groups = useMemo(
    () => foldShoots(worstFirst(isEmpty(filter) ? found.filter(needsEyes) : found)),
    [found, filter],
  );
  const namespace = findShoot(shoots, selected ?? '')?.namespace;
  const selectNext = (): void => {
    const at = groups.findIndex((group) => group.shoots.some((shoot) => shoot.namespace === namespace));
    const next = groups[(at + 1) % groups.length];
    if (next !== undefined) select(next.first.namespace);
  };
  useKeys({ '/': () => search.current?.focus(), n: selectNext });
  // The demo begins with one open shoot, so that its buttons are in sight.
  const demo = seed?.view.faults?.[0]?.namespace;
  useEffect(() => {
    if (demo !== undefined && selected === undefined) select(demo);
  }, [demo]);
  if (seed === undefined) return <p role="status">Connecting.</p>;
  const common = { now: serverTime(seed, now), selected: namespace, onSelect: select };
  const { version, configHash } = seed.view.status;
  return (
    <div class={oldness(seed, now) === undefined ? 'page' : 'page stale'}>
      <Head seed={seed} now={now} />
      <Counters shoots={shoots} filter={filter} search={search} onChange={setFilter} />
      <main class={`${selected === undefined ? '' : 'with-shoot'} ${groups.length > 0 ? 'with-rows' : ''}`}>
        {groups.length > 0 && <Rows groups={groups} {...common} />}
        <div class="overview">
          <Grid shoots={found} selected={namespace} onSelect={select} />
          <Timeline samples={seed.view.samples} />
        </div>
        {selected !== undefined && (
          <OpenShoot key={selected} seed={seed} now={now} wanted={selected} onClose={() => select(undefined)} />
        )}
      </main>
      <footer>
        <small>
          dwd {version}, configuration {configHash}; times in UTC. <kbd>/</kbd> searches, <kbd>n</kbd> opens the next
          shoot to look at.
        </small>
      </footer>
    </div>
  );
};
