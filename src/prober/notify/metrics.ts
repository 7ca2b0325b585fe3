import type { Counter, Gauge, Meter } from '../../ports/meter.ts';

export interface NotifyMetrics {
  readonly notifications: Counter;
  readonly waiting: Gauge;
}

/** Call it once per meter. */
export const createNotifyMetrics = (meter: Meter): NotifyMetrics => ({
  notifications: meter.counter({
    name: 'dwd_prober_notifications_total',
    help: 'Changes of state of shoots for --notify-url, by result: sent, failed (given up), or dropped (too many waited).',
    labels: ['result'],
  }),
  waiting: meter.gauge({ name: 'dwd_prober_notifications_waiting', help: 'Notifications that wait to be sent.' }),
});
