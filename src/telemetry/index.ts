export { createEventRecorder, type EventRecorderOptions, type RunningEventRecorder } from './event-recorder.ts';
export { createLogger, type LogEncoder, type LogLevel } from './logger.ts';
export { createMeter, type PrometheusMeter } from './meter.ts';
