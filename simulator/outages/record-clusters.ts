import { simKinds } from '../apiserver/index.ts';
import { type World, kubeconfigSecretName } from '../world/index.ts';
import { clusterPhase, isAliveMachine, secretPhase } from './facts.ts';
import type { Occurrence } from './history.ts';
import { type ObjectChange, changeOf, follow } from './store-changes.ts';

type Note = (occurrence: Occurrence) => void;

const recordGarden = ({ store, shoots }: World, note: Note): void => {
  const names = new Map(shoots.map(({ name, namespace }) => [namespace, name]));
  const noteMachine = ({ object, after }: ObjectChange): void => {
    const shoot = names.get(object.metadata.namespace ?? '');
    const node = object.metadata.labels?.node;
    if (shoot === undefined || node === undefined) return;
    note({ kind: 'machine', shoot, node, isAlive: after !== undefined && isAliveMachine(after) });
  };
  follow(store, simKinds.Machine, noteMachine);
  store.subscribe(simKinds.Cluster, (change) => {
    const { object, after } = changeOf(change);
    const shoot = names.get(object.metadata.name);
    if (shoot !== undefined) note({ kind: 'cluster', shoot, phase: after ? clusterPhase(after) : 'gone' });
  });
};

const recordSecrets = ({ store, shoots }: World, note: Note): void => {
  const noteOf = (wanted: string): void => {
    const found = shoots.find(({ namespace }) => namespace === wanted);
    if (found === undefined) return;
    const { name: shoot, namespace } = found;
    const secret = store.get(simKinds.Secret, { namespace, name: kubeconfigSecretName });
    note({ kind: 'cluster', shoot, phase: secretPhase(store.get(simKinds.Namespace, { name: namespace }), secret) });
  };
  store.subscribe(simKinds.Namespace, ({ object }) => noteOf(object.metadata.name));
  store.subscribe(simKinds.Secret, ({ object: { metadata } }) => {
    const { namespace = '', name } = metadata;
    if (name === kubeconfigSecretName) noteOf(namespace);
  });
};

const recorders = { gardener: recordGarden, secret: recordSecrets } as const;

/** Records, from now on, changes of the objects that represent clusters, and of their Machines. */
export const recordClusters = (world: World, note: Note): void => recorders[world.source](world, note);
