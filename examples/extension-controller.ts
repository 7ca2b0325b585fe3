// Reports the health of an extension's ControlPlanes in their conditions, and renews the extension's heartbeat.
import {
  createJsonLogger,
  deploymentCheck,
  determineErrorCodes,
  managedResourceCheck,
  runExtension,
} from 'dependency-watchdog/healthcheck';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort(signal));

const isOutOfQuota = (text: string) => /quota/i.test(text);
const controlPlane = {
  kind: 'ControlPlane' as const,
  type: 'local',
  checks: [
    {
      conditionType: 'ControlPlaneHealthy',
      check: deploymentCheck({ cluster: 'seed', name: 'cloud-controller-manager' }),
    },
    {
      conditionType: 'SystemComponentsHealthy',
      check: managedResourceCheck('extension-controlplane-shoot'),
      errorCodeCheck: (detail: string) => determineErrorCodes(detail, { ERR_INFRA_QUOTA_EXCEEDED: isOutOfQuota }),
    },
  ],
  conditionTypesToRemove: ['ControlPlaneReady'], // A former version wrote this condition.
};

process.exitCode = await runExtension(
  {
    name: 'extension-local',
    namespace: process.env.LEADER_ELECTION_NAMESPACE ?? 'extension-local',
    env: process.env,
    logger: createJsonLogger({ write: (line) => process.stdout.write(line) }),
    controllers: [controlPlane],
  },
  stop.signal,
);
