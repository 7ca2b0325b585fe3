import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Returns the configuration that Gardener's gardenlet writes: the ConfigMap among its manifests. */
export const gardenletConfig = (component: 'prober' | 'weeder'): string => {
  const file = new URL(`../../../test/real/gardenlet/${component}.yaml`, import.meta.url);
  const manifests = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest);
  const text = manifests.find(({ kind }) => kind === 'ConfigMap')?.data?.['dep-config.yaml'];
  if (text === undefined) throw new Error(`${component}.yaml has no configuration`);
  return text;
};

/** A configuration with only the required fields. */
export const minimal = `kubeConfigSecretName: probe
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0}
`;
