export { systemClock } from './clock.ts';
export { createWorkQueue, type WorkQueue, type WorkQueueOptions } from './queue.ts';
export { systemRandom } from './random.ts';
export { bindAddressForms, formatBindAddress, parseBindAddress } from './bind-address.ts';
export { type Check, healthRoutes, metricsRoutes, type MetricsSource } from './endpoints.ts';
export { createHttpServer, type HttpAnswer, type HttpRoutes, type HttpServerOptions } from './http-server.ts';
export { type LifecycleOptions, type Runnable, runLifecycle, whenAborted } from './lifecycle.ts';
