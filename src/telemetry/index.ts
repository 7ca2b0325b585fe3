export { createLogger, type LogEncoder, type LoggerOptions, type LogLevel } from './logger.ts';
export { createMeter, type MeterOptions, type PrometheusMeter } from './meter.ts';
