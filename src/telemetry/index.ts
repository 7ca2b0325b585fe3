export { escapeControls, escapeControlsInLines, hasControls } from './escape-controls.ts';
export { type EventRecorder, type RecordedEvent, createEventRecorder } from './event-recorder.ts';
export { type LogEncoder, type LogLevel, createLogger } from './logger.ts';
export { type PrometheusMeter, createMeter } from './meter.ts';
export { createProgramMetrics } from './program-metrics.ts';
export { indented, textColumns, wrapped } from './wrapped.ts';
