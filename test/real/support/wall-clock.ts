import { readFileSync } from 'node:fs';

/**
 * Loaded before the program under test (`node --import`). Shifts its wall clock by the milliseconds in the file WALL_CLOCK_SHIFT_FILE, from
 * the start and after every change of the file. The monotonic clock and the clock of TLS stay right.
 */
const file = process.env.WALL_CLOCK_SHIFT_FILE ?? '';
const read = (): number => Number(readFileSync(file, 'utf8'));
let shiftMs = read();
const right = Date;

globalThis.Date = new Proxy(right, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [right.now() + shiftMs] : args, newTarget) as Date,
  get: (target, key) => (key === 'now' ? () => right.now() + shiftMs : (Reflect.get(target, key) as unknown)),
});

setInterval(() => {
  shiftMs = read();
}, 50).unref();
