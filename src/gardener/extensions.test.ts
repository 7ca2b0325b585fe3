import { describe, expect, it } from 'vitest';
import { buildDeployment } from '../../test/doubles/builders.ts';
import { getHealthz, listTunnelPods } from '../care/observe/shoot.ts';
import { decodeControllerInstallation, decodeControllerRegistration, decodeExtensionReport } from './extensions.ts';
import { decodeControlPlaneDeployment } from './workloads.ts';

const metadata = { name: 'a', namespace: 'n' };

describe('decoding objects of a seed and a shoot', () => {
  it.each([
    [{}, { role: '', replicas: 1 }],
    [
      { replicas: 0, labels: { 'gardener.cloud/role': 'monitoring' } },
      { role: 'monitoring', replicas: 0 },
    ],
  ])('reads a Deployment with %j', (options, view) => {
    expect(decodeControlPlaneDeployment(buildDeployment(options), 'deployment')).toMatchObject(view);
  });

  it('reads pods of the tunnel', () => {
    const pods = [
      { metadata: { name: 'a', labels: { app: 'vpn-shoot' } }, status: { phase: 'Running' } },
      { metadata: { name: 'b' }, status: { phase: 'Pending' } },
      { metadata: { name: 'c' } },
    ];
    expect(listTunnelPods.decode({ kind: 'PodList', items: pods })).toEqual([
      { name: 'a', app: 'vpn-shoot', running: true },
      { name: 'b', app: '', running: false },
      { name: 'c', app: '', running: false },
    ]);
  });

  it('keeps a response that is not JSON', () => {
    expect(getHealthz.text?.('ok', 200)).toEqual({ status: 200, text: 'ok' });
  });

  it('reads an extension object and the registration and installation of its extension', () => {
    expect(decodeExtensionReport({ metadata, spec: { type: 'local' } }, 'worker')).toMatchObject({
      type: 'local',
      conditions: [],
    });
    const resources = [{ kind: 'Worker', type: 'local', primary: true }];
    expect(decodeControllerRegistration({ metadata, spec: { resources } }, 'registration')).toEqual({
      name: 'a',
      resources: [{ kind: 'Worker', type: 'local' }],
    });
    expect(decodeControllerRegistration({ metadata }, 'registration')).toEqual({ name: 'a', resources: [] });
    const spec = { registrationRef: { name: 'r' }, seedRef: { name: 's' } };
    expect(decodeControllerInstallation({ metadata, spec }, 'installation')).toEqual({
      name: 'a',
      registration: 'r',
      seed: 's',
    });
  });
});
