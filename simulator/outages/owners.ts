import {
  type World,
  clusterAutoscaler,
  kubeApiserver,
  kubeControllerManager,
  machineControllerManager,
} from '../world/index.ts';

/** The shoot that owns an object of the seed, and the object's name as it would be in an unshared namespace. */
export interface SeedOwner {
  readonly shoot: string;
  readonly name: string;
}

export type OwnerOf = (namespace: string, name: string) => SeedOwner | undefined;

const components = [kubeApiserver, kubeControllerManager, machineControllerManager, clusterAutoscaler];

/** Finds owners by namespace. If clusters share namespaces, by the exact names that the world has given to their objects. */
export const createOwners = ({ source, shoots }: Pick<World, 'source' | 'shoots'>): OwnerOf => {
  if (source !== 'cluster-api') {
    const names = new Map(shoots.map(({ name, namespace }) => [namespace, name]));
    return (namespace, name) => {
      const shoot = names.get(namespace);
      return shoot === undefined ? undefined : { shoot, name };
    };
  }
  const owned = new Map(
    shoots.flatMap(({ name: shoot, namespace, nameOf, secretName }) => [
      ...components.map((name) => [`${namespace}/${nameOf(name)}`, { shoot, name }] as const),
      [`${namespace}/${secretName}`, { shoot, name: secretName }] as const,
    ]),
  );
  return (namespace, name) => owned.get(`${namespace}/${name}`);
};
