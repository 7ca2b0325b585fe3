import { describe, expect, it } from 'vitest';
import { proberConfig } from '../prober/config/config.ts';
import { weederConfig } from '../weeder/config.ts';

/** The configuration that the Go program had before 1.0 (hack/config-probe.yaml), and gardenlet's. */
const probes = `namespace: shoot--x
probes:
- name: kube-apiserver
  probe:
    external: {kubeconfigSecretName: kubeconfig-external}
    internal: {kubeconfigSecretName: kubeconfig-internal}
    periodSeconds: 10
  dependantScales:
  - scaleRef: {apiVersion: extensions/v1beta1, kind: Deployment, name: kube-controller-manager}
    replicas: 1
`;

/** example/04-dwd-prober-configmap.yaml before 1.2. */
const internal = `internalKubeConfigSecretName: dws-internal-probe-secret
externalKubeConfigSecretName: dws-external-probe-secret
successThreshold: 1
dependentResourceInfos:
  - ref: {kind: Deployment, name: kube-controller-manager, apiVersion: apps/v1}
    shouldExist: true
    scaleUp: {level: 0, replicas: 1}
    scaleDown: {level: 1}
  - ref: {kind: Deployment, name: machine-controller-manager, apiVersion: apps/v1}
    shouldExist: true
    scaleUp: {level: 1, replicas: 1}
    scaleDown: {level: 0}
`;

const services = `services:
  etcd-main-client:
    dependantPods:
    - name: controlplane
      selector: {matchLabels: {role: apiserver}}
`;

/** hack/config_selector.yaml of the first versions. */
const service = `service: etcd-main-client
namespace: shoot--x
dependantpods:
- name: controlplane
  selector: {matchLabels: {role: apiserver}}
`;

describe('a configuration of an older Go program', () => {
  const format = (version: string, advice: string): string =>
    `is of the Go program before ${version}, whose format is not read any more: ${advice}`;

  it.each([
    [
      'probes',
      proberConfig,
      probes,
      { line: 2, path: 'probes' },
      format('1.0', 'write kubeConfigSecretName and dependentResourceInfos in place of probes; leave out namespace'),
    ],
    [
      'internalKubeConfigSecretName',
      proberConfig,
      internal,
      { line: 1, path: 'internalKubeConfigSecretName' },
      format(
        '1.2',
        'write kubeConfigSecretName in place of internalKubeConfigSecretName, externalProbe.kubeConfigSecretName in place of externalKubeConfigSecretName, optional (its opposite) in place of shouldExist; leave out successThreshold, replicas',
      ),
    ],
    [
      'services',
      weederConfig,
      services,
      { line: 1, path: 'services' },
      format('1.0', 'write servicesAndDependantSelectors in place of services'),
    ],
    [
      'service',
      weederConfig,
      service,
      { line: 1, path: 'service' },
      format(
        '1.0',
        'write servicesAndDependantSelectors in place of service, podSelectors in place of dependantPods; leave out namespace',
      ),
    ],
  ] as const)('is refused in one sentence: %s', (_name, config, text, at, message) => {
    const problem = { ...at, column: 1, message, severity: 'error' };
    expect(config.check(text)).toEqual([problem]);
    expect(config.load(text, { unknownFields: 'warning' })).toEqual({ problems: [problem] });
  });

  it('is one warning where the present fields are there too, as for the Go program', () => {
    const both = `kubeConfigSecretName: probe\nkcmNodeMonitorGraceDuration: 40s\n${internal}`;
    const { settings, problems } = proberConfig.load(both, { unknownFields: 'warning' });
    expect(settings?.dependentResources).toHaveLength(2);
    expect(problems).toMatchObject([{ path: 'internalKubeConfigSecretName', severity: 'warning' }]);
    expect(proberConfig.check(both)).toMatchObject([{ path: 'internalKubeConfigSecretName', severity: 'error' }]);
  });

  it('does not hide other errors', () => {
    const wrong = internal.replace('{level: 1}', '{level: -1}');
    expect(proberConfig.check(wrong).map(({ path }) => path)).toEqual([
      'internalKubeConfigSecretName',
      'dependentResourceInfos[0].scaleDown.level',
    ]);
  });
});
