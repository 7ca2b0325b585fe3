// Tells how the ControlPlanes of an extension are, by conditions of their own. Reaches the seed as kubectl does, or as the pod that it is.
import {
  connect,
  createJsonLogger,
  deploymentCheck,
  determineErrorCodes,
  managedResourceCheck,
  runHealthChecks,
} from 'dependency-watchdog/healthcheck';

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const logger = createJsonLogger({ write: (line) => process.stdout.write(line) });
const connection = await connect({ env: process.env, logger });

const isOutOfQuota = (text: string) => /quota/i.test(text);
const checks = [
  {
    conditionType: 'ControlPlaneHealthy',
    check: deploymentCheck({ cluster: 'seed', name: 'cloud-controller-manager' }),
  },
  {
    conditionType: 'SystemComponentsHealthy',
    check: managedResourceCheck('extension-controlplane-shoot'),
    errorCodeCheck: (detail: string) => determineErrorCodes(detail, { ERR_INFRA_QUOTA_EXCEEDED: isOutOfQuota }),
  },
];
const kind = 'ControlPlane';
await runHealthChecks({ ...connection, logger, kind, type: 'local', syncPeriodMs: 30_000, checks }, stop.signal);
connection.close();
