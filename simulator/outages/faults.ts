import type { Clock } from '../../src/ports/clock.ts';
import type { World, WorldShoot } from '../world/index.ts';
import type { Fault, PlannedFault } from './plan.ts';

/** Ends a fault. */
export type End = () => void | Promise<void>;

export type FaultOf<Kind extends Fault['kind']> = Extract<Fault, { readonly kind: Kind }>;

/** Functions that begin a fault, by its kind. */
export type Handlers<Kinds extends Fault['kind']> = {
  readonly [Kind in Kinds]: (fault: FaultOf<Kind>) => End;
};

export const nothing: End = () => undefined;

/** Calls `step` now and then every `everyMs`. Returns a function that stops it. */
export const repeat = (clock: Clock, everyMs: number, step: () => void): (() => void) => {
  let cancel: () => void;
  const next = (): void => {
    step();
    cancel = clock.timer(everyMs, next);
  };
  next();
  return () => cancel();
};

/** Returns the shoot of that name, none if shrinking has removed it, or all shoots if `name` is undefined. */
export const shootsOf = ({ shoots }: World, name: string | undefined): readonly WorldShoot[] =>
  shoots.filter((shoot) => name === undefined || shoot.name === name);

/** Begins a fault in its shoot. Without that shoot, the fault does nothing. */
export const inShoot =
  <F extends { readonly shoot: string }>(world: World, begin: (shoot: WorldShoot, fault: F) => End) =>
  (fault: F): End => {
    const [shoot] = shootsOf(world, fault.shoot);
    return shoot === undefined ? nothing : begin(shoot, fault);
  };

interface Turn {
  readonly at: number;
  readonly planned: PlannedFault;
  readonly phase: 'begins' | 'ends';
}

/** Returns the begins and ends of faults in the order of time. */
export const turnsOf = (faults: readonly PlannedFault[]): readonly Turn[] =>
  faults
    .flatMap((planned): Turn[] => [
      { at: planned.at, planned, phase: 'begins' },
      { at: planned.at + planned.forMs, planned, phase: 'ends' },
    ])
    .sort((a, b) => a.at - b.at);
