import { useEffect, useRef, useState } from 'preact/hooks';
import type { FaultKind } from '../feed/index.ts';
import { Charts } from './charts.tsx';
import { injectFault } from './faults.tsx';
import { type Seed, oldness, serverTime, useSeed, useShoot, useTick } from './feed.ts';
import { Header } from './header.tsx';
import { Shoot } from './shoot.tsx';
import { Shoots } from './shoots.tsx';

const prefix = '#shoot=';

const shootOfAddress = (): string | undefined =>
  location.hash.startsWith(prefix) ? decodeURIComponent(location.hash.slice(prefix.length)) : undefined;

/** Keeps the namespace of the open shoot in the address, so that users can share it. When the shoot closes, the element that opened it regains the focus. */
const useSelection = (): readonly [string | undefined, (namespace: string | undefined) => void] => {
  const [selected, setSelected] = useState(shootOfAddress);
  useEffect(() => {
    const onChange = (): void => setSelected(shootOfAddress());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  const opener = useRef<Element>(null);
  const select = (namespace: string | undefined): void => {
    if (namespace !== undefined) opener.current = document.activeElement;
    else if (opener.current instanceof HTMLElement) opener.current.focus();
    location.hash = namespace === undefined ? '' : prefix + encodeURIComponent(namespace);
  };
  return [selected, select];
};

interface OpenShootProps {
  readonly seed: Seed;
  readonly now: number;
  readonly namespace: string;
  readonly onClose: () => void;
}

const OpenShoot = ({ seed, now, namespace, onClose }: OpenShootProps) => {
  const [problem, setProblem] = useState<string>();
  const detailed = useShoot(namespace);
  const listed = seed.view.status.shoots.find((shoot) => shoot.namespace === namespace);
  // Until the details arrive, the shoot of the list is shown, which may be a second newer or older.
  const shoot = detailed ?? listed;
  const onFault = (kind: FaultKind): void =>
    void injectFault(namespace, kind).then(
      () => setProblem(undefined),
      (error: unknown) => setProblem(String(error)),
    );
  if (shoot === undefined) return <p class="missing">There is no shoot {namespace} in this seed.</p>;
  const faults = seed.view.faults?.find((one) => one.namespace === namespace);
  return (
    <>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <Shoot shoot={shoot} now={serverTime(seed, now)} faults={faults} onFault={onFault} onClose={onClose} />
    </>
  );
};

export const App = () => {
  const seed = useSeed();
  const now = useTick();
  const [selected, select] = useSelection();
  if (seed === undefined) return <p role="status">Connecting.</p>;
  return (
    <div class={oldness(seed, now) === undefined ? 'page' : 'page stale'}>
      <Header seed={seed} now={now} />
      <main class={selected === undefined ? '' : 'with-shoot'}>
        <div class="overview">
          <Charts samples={seed.samples} />
          <Shoots shoots={seed.view.status.shoots} now={serverTime(seed, now)} selected={selected} onSelect={select} />
        </div>
        {selected !== undefined && (
          <OpenShoot key={selected} seed={seed} now={now} namespace={selected} onClose={() => select(undefined)} />
        )}
      </main>
    </div>
  );
};
