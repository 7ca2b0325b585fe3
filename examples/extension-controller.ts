// Tells how the ControlPlanes of an extension are, by conditions of their own. Against `kubectl proxy`: SEED is its address.
import { setTimeout as delay } from 'node:timers/promises';
import {
  ApiError,
  type Clock,
  deploymentCheck,
  determineErrorCodes,
  type KubeClient,
  type Logger,
  managedResourceCheck,
  runHealthChecks,
} from 'dependency-watchdog/healthcheck';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => delay(Math.max(ms, 0), undefined, { signal }),
  timer: (ms, callback) => {
    const handle = setTimeout(callback, ms);
    return () => clearTimeout(handle);
  },
};
const log = (level: string) => (message: string, fields?: object) =>
  void process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
const [debug, info, warn, error] = [log('debug'), log('info'), log('warn'), log('error')];
const logger: Logger = { debug, info, warn, error, child: () => logger };

/** Any HTTP client will do, as long as it ends with `signal` and fails with an ApiError. */
const server = process.env.SEED ?? 'http://127.0.0.1:8001';
const seed: KubeClient = {
  call: async ({ method, path, body, contentType = 'application/json', decode }, { signal, timeoutMs = 60_000 }) => {
    const sentAt = clock.monotonic();
    const response = await fetch(server + path, {
      method,
      headers: { 'content-type': contentType },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.ok) return { value: decode(await response.json()), sentAt, receivedAt: clock.monotonic() };
    const code = ({ 404: 'NotFound', 409: 'Conflict' } as const)[response.status] ?? 'ServerError';
    throw new ApiError({ code, status: response.status, message: `${path}: ${await response.text()}` });
  },
};

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const deployment = deploymentCheck({ cluster: 'seed', name: 'cloud-controller-manager' });
const isOutOfQuota = (text: string) => /quota/i.test(text);
const checks = [
  { conditionType: 'ControlPlaneHealthy', check: deployment },
  {
    conditionType: 'SystemComponentsHealthy',
    check: managedResourceCheck('extension-controlplane-shoot'),
    errorCodeCheck: (detail: string) => determineErrorCodes(detail, { ERR_INFRA_QUOTA_EXCEEDED: isOutOfQuota }),
  },
];
const options = { clock, logger, seed, kind: 'ControlPlane', type: 'local', syncPeriodMs: 30_000, checks } as const;
await runHealthChecks(options, stop.signal);
