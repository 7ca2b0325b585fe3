// Tells how the ControlPlanes of an extension are, by conditions of their own, and that the extension is alive.
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
  conditionTypesToRemove: ['ControlPlaneReady'], // A former version wrote it.
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
