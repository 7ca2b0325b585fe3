/** One moment on both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number;
  /** Since the epoch. */
  readonly wall: number;
}

/** Formats milliseconds since the epoch as RFC 3339. */
export const formatWall = (wall: number): string => new Date(Math.round(wall)).toISOString();

/** Formats a monotonic instant as RFC 3339. */
export const timeAt = (instant: number, { monotonic, wall }: Moment): string => formatWall(wall + instant - monotonic);
