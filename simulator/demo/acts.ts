import type { Call } from '../../src/kubernetes/api/call.ts';
import { etcdAnnotation, kubeletsAnnotation } from '../world/index.ts';
import type { Line } from './line.ts';

/** What the demo does to a shoot. */
export interface Act {
  readonly kind: 'cut kubelets' | 'connect kubelets' | 'break etcd' | 'mend etcd';
  /** Name of the shoot. */
  readonly shoot: string;
}

/** An act of the story. */
export interface Deed {
  readonly act: Act;
  /** What is told of it; nothing where it goes without saying. */
  readonly told?: Line;
}

/** Without a value the annotation goes. */
const annotationOf = ({ kind }: Act): { readonly key: string; readonly value: string | null } => {
  switch (kind) {
    case 'cut kubelets':
      return { key: kubeletsAnnotation, value: 'cut' };
    case 'connect kubelets':
      return { key: kubeletsAnnotation, value: null };
    case 'break etcd':
      return { key: etcdAnnotation, value: 'down' };
    case 'mend etcd':
      return { key: etcdAnnotation, value: null };
  }
};

/** Does it through an annotation on the Cluster of that name, as anybody with kubectl can. */
export const perform = (act: Act, cluster: string): Call<undefined> => {
  const { key, value } = annotationOf(act);
  return {
    method: 'PATCH',
    path: `/apis/extensions.gardener.cloud/v1alpha1/clusters/${cluster}`,
    contentType: 'application/merge-patch+json',
    repeatable: true,
    body: { metadata: { annotations: { [key]: value } } },
    decode: () => undefined,
  };
};
