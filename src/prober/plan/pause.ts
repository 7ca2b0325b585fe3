import type { ShootContext } from './shoot-state.ts';

/** True while nothing may be scaled down; what is held is restored all the same. */
export const isPaused = <T extends Pick<ShootContext, 'now' | 'pausedUntil'>>(
  context: T,
): context is T & { readonly pausedUntil: number } =>
  context.pausedUntil !== undefined && context.now < context.pausedUntil;
