import { type JsonMap, type SimDraft, type SimObject, formatTime } from '../apiserver/index.ts';
import { clusterAutoscaler, kubeApiserver, kubeControllerManager, machineControllerManager } from './objects.ts';
import { statusFrom } from './pod-status.ts';
import { controlledBy } from './workloads.ts';

export const etcdMain = 'etcd-main';
/** Gardener's name for the Service of `etcd-main`; the Service of kube-apiserver has the name of its Deployment. */
const etcdService = 'etcd-main-client';
export const kubeScheduler = 'kube-scheduler';

/** A component of a shoot's control plane. Its pods run one container with the component's name. */
export interface ControlPlaneComponent {
  readonly name: string;
  readonly kind: 'Deployment' | 'StatefulSet';
  /** Labels that its selector and the selector of its Service match. */
  readonly labels: Readonly<Record<string, string>>;
  readonly service?: string;
  readonly port: number;
  /** Service without which the component's program exits. */
  readonly needs?: string;
  readonly graceSeconds: number;
}

const kubernetes = (role: string): Readonly<Record<string, string>> => ({ app: 'kubernetes', role });

const controller = (name: string, role: string, port: number): ControlPlaneComponent => ({
  name,
  kind: 'Deployment',
  labels: kubernetes(role),
  port,
  needs: kubeApiserver,
  graceSeconds: 30,
});

/**
 * Labels, names and ports are Gardener's: https://github.com/gardener/gardener/tree/master/pkg/component (etcd/etcd,
 * kubernetes/apiserver, kubernetes/scheduler, nodemanagement/machinecontrollermanager ...).
 */
export const components: readonly ControlPlaneComponent[] = [
  {
    name: etcdMain,
    kind: 'StatefulSet',
    labels: { app: 'etcd-statefulset', role: 'main' },
    service: etcdService,
    port: 2379,
    graceSeconds: 30,
  },
  {
    name: kubeApiserver,
    kind: 'Deployment',
    labels: kubernetes('apiserver'),
    service: kubeApiserver,
    port: 443,
    needs: etcdService,
    graceSeconds: 30,
  },
  controller(kubeControllerManager, 'controller-manager', 10257),
  controller(kubeScheduler, 'scheduler', 10259),
  { ...controller(machineControllerManager, machineControllerManager, 10258), graceSeconds: 5 },
  { ...controller(clusterAutoscaler, clusterAutoscaler, 8085), graceSeconds: 5 },
];

const roleLabel = { 'gardener.cloud/role': 'controlplane' };

type Workload = Pick<ControlPlaneComponent, 'name' | 'kind' | 'labels' | 'graceSeconds'>;

const specOf = ({ name, labels, graceSeconds }: Workload, replicas: number): JsonMap => ({
  replicas,
  selector: { matchLabels: labels },
  template: {
    metadata: { labels: { ...labels, ...roleLabel } },
    spec: { containers: [{ name, image: `simulated/${name}:v1` }], terminationGracePeriodSeconds: graceSeconds },
  },
});

/** A Deployment or StatefulSet whose pods are all ready. */
export const workloadObject = (namespace: string, component: Workload, replicas: number): SimDraft => {
  const { name, labels } = component;
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  return {
    metadata: { name, namespace, labels: { ...labels, ...roleLabel } },
    spec: { ...specOf(component, replicas), ...(component.kind === 'StatefulSet' ? { serviceName: name } : {}) },
    status: { observedGeneration: 1, ...counts },
  };
};

/** A Deployment without pods whose replicas are all ready. */
export const deploymentObject = (namespace: string, name: string, replicas: number): SimDraft =>
  workloadObject(namespace, { name, kind: 'Deployment', labels: kubernetes(name), graceSeconds: 30 }, replicas);

/** The only ReplicaSet of a Deployment. `hash` stands for the pod template, which never changes. */
export const replicaSetObject = (deployment: SimObject, hash: string): SimDraft => {
  const { name, namespace, labels } = deployment.metadata;
  return {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      ownerReferences: [controlledBy(deployment)],
    },
    spec: deployment.spec,
  };
};

export const serviceObject = (namespace: string, name: string, { labels, port }: ControlPlaneComponent): SimDraft => ({
  metadata: { name, namespace, labels },
  spec: { selector: labels, ports: [{ name: 'client', port, protocol: 'TCP' }] },
});

/** Status of a ready pod. `ms`: time of its start, since the epoch. */
export const readyStatus = (pod: SimObject, { ms, ip }: { readonly ms: number; readonly ip: string }): JsonMap => {
  const time = formatTime(ms);
  const view = { state: { running: { startedAt: time } }, lastState: {}, ready: true, restartCount: 0 };
  return statusFrom(pod, { view, time, ip });
};
