import type { World, WorldShoot } from '../world/index.ts';
import type { Fault } from './plan.ts';

/** Ends what a fault began. */
export type End = () => void | Promise<void>;

export type FaultOf<Kind extends Fault['kind']> = Extract<Fault, { readonly kind: Kind }>;

/** How faults begin, by kind. */
export type Handlers<Kinds extends Fault['kind']> = {
  readonly [Kind in Kinds]: (fault: FaultOf<Kind>) => End;
};

export const nothing: End = () => undefined;

/** The shoot of that name if the plan (still) has it; all of them where a fault names none. */
export const shootsOf = ({ shoots }: World, name: string | undefined): readonly WorldShoot[] =>
  shoots.filter((shoot) => name === undefined || shoot.name === name);

/** Begins a fault in its shoot. A fault about what a plan has not (any more) does nothing. */
export const inShoot =
  <F extends { readonly shoot: string }>(world: World, begin: (shoot: WorldShoot, fault: F) => End) =>
  (fault: F): End => {
    const [shoot] = shootsOf(world, fault.shoot);
    return shoot === undefined ? nothing : begin(shoot, fault);
  };
