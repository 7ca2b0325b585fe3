export { type VirtualClock, createVirtualClock } from './clock.ts';
export { type SeededRandom, createSeededRandom } from './random.ts';
export { sleepBy } from './clock.ts';
