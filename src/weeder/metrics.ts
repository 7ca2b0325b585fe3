import type { Meter } from '../ports/meter.ts';

const perService = ['service'] as const;

export const createWeederMetrics = (meter: Meter) => ({
  started: meter.counter({
    name: 'dwd_weeder_weedings_started_total',
    help: 'Weedings started, by the service that became ready.',
    labels: perService,
  }),
  running: meter.gauge({
    name: 'dwd_weeder_weedings',
    help: 'Weedings in progress, by the service that became ready.',
    labels: perService,
  }),
  deleted: meter.counter({
    name: 'dwd_weeder_pods_deleted_total',
    help: 'Crash-looping pods deleted, by the service that became ready.',
    labels: perService,
  }),
  errors: meter.counter({
    name: 'dwd_weeder_delete_errors_total',
    help: 'Failed deletes of pods, by error code; each is retried while the weeding lasts.',
    labels: [...perService, 'code'],
  }),
  deleteSeconds: meter.histogram({
    name: 'dwd_weeder_ready_to_delete_seconds',
    help: 'Time from the moment at which the weeder saw that a service was ready to the delete of a crash-looping pod that depends on it.',
    buckets: [0.1, 0.3, 1, 2, 3, 5, 10, 30, 100, 300],
  }),
  bugs: meter.counter({
    name: 'dwd_weeder_unexpected_errors_total',
    help: 'Unexpected exceptions; each is a bug.',
  }),
});

export type WeederMetrics = ReturnType<typeof createWeederMetrics>;
