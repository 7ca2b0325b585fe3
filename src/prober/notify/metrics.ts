import type { Counter, Gauge, Meter } from '../../ports/meter.ts';

export interface NotifyMetrics {
  readonly notifications: Counter;
  readonly waiting: Gauge;
}

/** Call it once per meter. */
export const createNotifyMetrics = (meter: Meter): NotifyMetrics => ({
  notifications: meter.counter({
    name: 'dwd_prober_notifications_total',
    help: 'Notifications of state changes of shoots to --notify-url, by result: sent, failed (given up), or dropped (too many were waiting).',
    labels: ['result'],
  }),
  waiting: meter.gauge({
    name: 'dwd_prober_notifications_waiting',
    help: 'Notifications that are waiting to be sent.',
  }),
});
