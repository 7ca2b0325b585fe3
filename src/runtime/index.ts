export { systemClock } from './clock.ts';
export { WorkQueue } from './queue.ts';
export { systemRandom } from './random.ts';
export { bindAddressForms, parseBindAddress } from './bind-address.ts';
export { type Check, healthRoutes, metricsRoutes, type MetricsSource } from './endpoints.ts';
export { createHttpServer } from './http-server.ts';
export { type Runnable, runLifecycle, whenAborted } from './lifecycle.ts';
