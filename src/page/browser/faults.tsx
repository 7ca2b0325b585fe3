import type { FaultKind, FaultsOfShoot } from '../feed/index.ts';

interface FaultsProps {
  readonly faults: FaultsOfShoot;
  readonly onFault: (kind: FaultKind) => void;
}

/** The buttons of the demo, each labelled with its next action. */
export const Faults = ({ faults: { kubelets, etcd }, onFault }: FaultsProps) => (
  <div role="group" aria-label="Faults of the demo" class="faults">
    <button type="button" onClick={() => onFault(kubelets === 'cut' ? 'connect kubelets' : 'cut kubelets')}>
      {kubelets === 'cut' ? 'Connect its kubelets' : 'Cut its kubelets off'}
    </button>
    <button type="button" onClick={() => onFault(etcd === 'down' ? 'mend etcd' : 'break etcd')}>
      {etcd === 'down' ? 'Mend its etcd' : 'Kill its etcd'}
    </button>
  </div>
);

/** Injects or repairs a fault. Rejects with the server's error message. */
export const injectFault = async (namespace: string, kind: FaultKind): Promise<void> => {
  const answer = await fetch('demo/faults', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ namespace, kind }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
};
