/** One moment by both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number;
  /** Since the epoch. */
  readonly wall: number;
}

/** Milliseconds since the epoch as RFC 3339. */
export const formatWall = (wall: number): string => new Date(Math.round(wall)).toISOString();

/** A monotonic instant as RFC 3339. */
export const timeAt = (instant: number, { monotonic, wall }: Moment): string => formatWall(wall + instant - monotonic);
