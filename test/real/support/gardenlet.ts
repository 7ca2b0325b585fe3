import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { type RbacRule, untilAllowed } from '../../envtest/access.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { type Rootfs, startContainer } from './container.ts';
import type { Program } from './program.ts';

export type GardenletFile = 'prober' | 'weeder' | 'shoot';

/** The fields of gardenlet's manifests that the tests read. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly RbacRule[];
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly [
          {
            readonly command: readonly string[];
            readonly ports: readonly { readonly name: string }[];
            readonly volumeMounts: readonly [{ readonly name: string; readonly mountPath: string }];
          },
        ];
        readonly volumes: readonly [{ readonly name: string; readonly configMap: { readonly name: string } }];
      };
    };
  };
}

const textOf = (file: GardenletFile): string =>
  readFileSync(new URL(`../gardenlet/${file}.yaml`, import.meta.url), 'utf8');

const parse = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** Returns the labels of gardenlet's pods, and the names of their ports. */
export const gardenletPods = (file: 'prober' | 'weeder') => {
  const { spec } = parse(textOf(file)).find(({ kind }) => kind === 'Deployment') as unknown as Deployment;
  const { metadata, spec: pod } = spec.template;
  return { labels: metadata.labels, ports: pod.containers[0].ports.map(({ name }) => name) };
};

/** Applies gardenlet's manifests. Resolves when their rights are in force for `user`. */
export const applyAsGardenlet = async (plane: ControlPlane, file: GardenletFile, user: string): Promise<void> => {
  const text = textOf(file);
  await plane.kubectl(['apply', '-f', '-'], text);
  const identity = { user, groups: ['system:authenticated'] };
  for (const { rules = [], metadata } of parse(text)) {
    const scope = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
    for (const rule of rules) await untilAllowed(plane.client, identity, { ...rule, ...scope });
  }
};

/** Directory at which a kubelet mounts the token. gardener-resource-manager's webhook for projected tokens adds the volume to the pod. */
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Starts the pod of gardenlet's Deployment, only with its command, files and service account. */
export const startPod = async (seed: ControlPlane, rootfs: Rootfs, name: string): Promise<Program> => {
  const namespace = 'garden';
  const deployment = await seed.client.get<Deployment>(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
  const { serviceAccountName, containers, volumes } = deployment.spec.template.spec;
  const [{ command, volumeMounts }] = containers;
  const configMap = await seed.client.get<{ data: Readonly<Record<string, string>> }>(
    `/api/v1/namespaces/${namespace}/configmaps/${volumes[0].configMap.name}`,
  );
  rootfs.mount(volumeMounts[0].mountPath, configMap.data);
  const { token } = await seed.serviceAccountKubeconfig({ namespace, name: serviceAccountName });
  rootfs.mount(serviceAccountDirectory, { token, namespace, 'ca.crt': seed.caPem });
  return startContainer({
    rootfs,
    command,
    env: { KUBERNETES_SERVICE_HOST: seed.host, KUBERNETES_SERVICE_PORT: String(seed.port) },
  });
};
