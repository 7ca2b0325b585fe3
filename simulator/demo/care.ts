import { type Line, line } from './line.ts';

/** Output of `dwd care --once --output json`. */
export interface CareOutput {
  readonly shoots: readonly {
    readonly namespace: string;
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  }[];
}

/** Widths of the longest condition type in the demo, and of the second longest status. */
const [typeWidth, statusWidth] = [23, 7];

/** Returns a line for each condition that is not True. A shoot with the same conditions as an earlier one takes a single line. */
export const linesOfCare = (
  { shoots }: CareOutput,
  names: readonly { readonly name: string; readonly namespace: string }[],
): readonly Line[] => {
  const known = new Map<string, string>();
  return shoots.flatMap(({ namespace, conditions }): readonly Line[] => {
    const name = names.find((shoot) => shoot.namespace === namespace)?.name ?? namespace;
    const troubles = conditions
      .filter(({ status }) => status !== 'True')
      .map(({ type, status, reason }) => `${type.padEnd(typeWidth)}  ${status.padEnd(statusWidth)}  ${reason}`);
    if (troubles.length === 0) return [line(`all ${String(conditions.length)} conditions are True`, name)];
    const key = troubles.join('\n');
    const alike = known.get(key);
    if (alike !== undefined) return [line(`as ${alike}`, name)];
    known.set(key, name);
    return troubles.map((text) => line(text, name, 'bad'));
  });
};
