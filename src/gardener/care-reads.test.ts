import { describe, expect, it } from 'vitest';
import { buildDeployment } from '../../test/doubles/builders.ts';
import { getHealthz, listTunnelPods } from '../care/calls.ts';
import { decodeHeartbeat, decodeNodeLease } from './care-reads.ts';
import { decodeControllerInstallation, decodeControllerRegistration, decodeExtensionReport } from './extensions.ts';
import { decodeControlPlaneDeployment } from './health-workloads.ts';

const metadata = { name: 'a', namespace: 'n' };

describe('what is read of a seed and a shoot', () => {
  it.each([
    [{}, { role: '', replicas: 1, isHeld: false }],
    [
      { replicas: 0, labels: { 'gardener.cloud/role': 'monitoring' } },
      { role: 'monitoring', replicas: 0, isHeld: false },
    ],
    [
      { annotations: { 'dependency-watchdog.gardener.cloud/meltdown-protection-active': '' } },
      { role: '', replicas: 1, isHeld: true },
    ],
  ])('a Deployment with %j', (options, view) => {
    expect(decodeControlPlaneDeployment(buildDeployment(options), 'deployment')).toMatchObject(view);
  });

  it('a Deployment that does not say how many it wants', () => {
    expect(decodeControlPlaneDeployment({ metadata }, 'deployment')).toMatchObject({ replicas: 1 });
  });

  it.each([
    [{ renewTime: '2026-01-01T00:00:00.500000Z', leaseDurationSeconds: 40 }, Date.parse('2026-01-01T00:00:40.5Z')],
    [{ renewTime: '2026-01-01T00:00:00Z' }, Date.parse('2026-01-01T00:00:00Z')],
    [{ leaseDurationSeconds: 40 }, Number.NEGATIVE_INFINITY],
    [{ renewTime: 'soon' }, Number.NEGATIVE_INFINITY],
  ])('a node lease %j', (spec, expiresAt) => {
    expect(decodeNodeLease({ metadata, spec }, 'lease')).toEqual({ name: 'a', expiresAt });
  });

  it('a heartbeat, or none', () => {
    const renewTime = '2026-01-01T00:00:00.000000Z';
    expect(decodeHeartbeat({ metadata, spec: { renewTime } }, 'lease')).toEqual({ renewedAt: Date.parse(renewTime) });
    expect(decodeHeartbeat({ metadata }, 'lease')).toEqual({ renewedAt: undefined });
  });

  it('pods of the tunnel', () => {
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

  it('an answer that is no JSON', () => {
    expect(getHealthz.text?.('ok', 200)).toEqual({ status: 200, body: 'ok' });
  });

  it('an extension object, and who is in charge of it', () => {
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
