import { capiKinds, simKinds } from '../apiserver/index.ts';
import type { World } from '../world/index.ts';
import { capiMachineFacts, capiPhase, clusterPhase, isAliveMachine, secretPhase } from './facts.ts';
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
    const { name: shoot, namespace, secretName } = found;
    const secret = store.get(simKinds.Secret, { namespace, name: secretName });
    note({ kind: 'cluster', shoot, phase: secretPhase(store.get(simKinds.Namespace, { name: namespace }), secret) });
  };
  store.subscribe(simKinds.Namespace, ({ object }) => noteOf(object.metadata.name));
  store.subscribe(simKinds.Secret, ({ object: { metadata } }) => {
    const { namespace = '', name } = metadata;
    if (shoots.some((shoot) => shoot.namespace === namespace && shoot.secretName === name)) noteOf(namespace);
  });
};

const recordClusterApi = ({ store, shoots }: World, note: Note): void => {
  const names = new Map(shoots.map(({ name, cluster }) => [cluster, name]));
  const shootOf = (namespace = '', cluster: string): string | undefined => names.get(`${namespace}/${cluster}`);
  const noteMachine = ({ object, after }: ObjectChange): void => {
    const { namespace, labels } = object.metadata;
    const shoot = shootOf(namespace, labels?.['cluster.x-k8s.io/cluster-name'] ?? '');
    const { node, isAlive } = capiMachineFacts(object);
    if (shoot === undefined || node === undefined) return;
    note({ kind: 'machine', shoot, node, isAlive: after !== undefined && isAlive });
  };
  follow(store, capiKinds.Machine, noteMachine);
  store.subscribe(capiKinds.Cluster, (change) => {
    const { object, after } = changeOf(change);
    const shoot = shootOf(object.metadata.namespace, object.metadata.name);
    if (shoot !== undefined) note({ kind: 'cluster', shoot, phase: capiPhase(after) });
  });
};

const recorders = { gardener: recordGarden, secret: recordSecrets, 'cluster-api': recordClusterApi } as const;

/** Records, from now on, changes of the objects that represent clusters, and of their Machines. */
export const recordClusters = (world: World, note: Note): void => recorders[world.source](world, note);
