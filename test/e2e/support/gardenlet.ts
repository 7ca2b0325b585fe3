import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { waitFor } from '../../envtest/waiting.ts';
import { type Rootfs, startContainer } from './container.ts';
import type { Program } from './program.ts';

export type GardenletFile = 'prober' | 'weeder' | 'shoot';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The fields of gardenlet's manifests that the tests read. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
  readonly data?: Readonly<Record<string, string>>;
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly [
          {
            readonly command: readonly string[];
            readonly volumeMounts: readonly [{ readonly name: string; readonly mountPath: string }];
            readonly securityContext: Readonly<Record<string, unknown>>;
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

/** Returns the configuration file that gardenlet mounts. */
export const gardenletConfig = (file: 'prober' | 'weeder'): string => {
  const text = parse(textOf(file)).find(({ kind }) => kind === 'ConfigMap')?.data?.['dep-config.yaml'];
  if (text === undefined) throw new Error(`${file}.yaml has no configuration`);
  return text;
};

const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** Applies manifests. Resolves when their rights are in force for `user`. */
export const applyRights = async (plane: ControlPlane, text: string, user: string): Promise<void> => {
  await plane.kubectl(['apply', '-f', '-'], text);
  const rules = parse(text).flatMap((manifest) =>
    (manifest.rules ?? []).map((rule) => ({ ...rule, namespace: manifest.metadata.namespace })),
  );
  for (const { apiGroups, resources, resourceNames, verbs, namespace } of rules) {
    const [resource, subresource] = resources[0]?.split('/') ?? [];
    const [group, name, verb] = [apiGroups[0], resourceNames?.[0], verbs[0]];
    const resourceAttributes = { group, resource, subresource, name, namespace, verb };
    const spec = { user, groups: ['system:authenticated'], resourceAttributes };
    const what = `the right of ${user} to ${String(verb)} ${String(resource)}`;
    await waitFor({ what, withinMs: 10_000 }, async () => {
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
      const { status } = await plane.client.create<{ status: { allowed: boolean } }>(reviews, review);
      return status.allowed;
    });
  }
};

export const applyAsGardenlet = (plane: ControlPlane, file: GardenletFile, user: string): Promise<void> =>
  applyRights(plane, textOf(file), user);

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
