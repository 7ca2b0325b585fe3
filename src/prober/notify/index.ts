export { createNotifyMetrics } from './metrics.ts';
export { Notifier, type NotifySettings } from './notifier.ts';
export { type Render, parseTemplate, renderJson } from './template.ts';
