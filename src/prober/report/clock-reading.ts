/** Reading of both clocks at one moment, in milliseconds. */
export interface ClockReading {
  readonly monotonic: number;
  /** Since the epoch. */
  readonly wall: number;
}

/** Formats milliseconds since the epoch as RFC 3339. */
export const formatWall = (wall: number): string => new Date(Math.round(wall)).toISOString();

/** Formats a monotonic instant as RFC 3339. */
export const timeAt = (instant: number, { monotonic, wall }: ClockReading): string =>
  formatWall(wall + instant - monotonic);
