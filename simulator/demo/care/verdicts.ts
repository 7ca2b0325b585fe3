import { type Line, line } from '../line.ts';

/** What `dwd care --once --output json` says of the shoots. */
export interface CareReport {
  readonly shoots: readonly {
    readonly namespace: string;
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  }[];
}

type Verdict = CareReport['shoots'][number];

/** Of the longest type that turns up here, and of the longest status but one. */
const [typeWidth, statusWidth] = [23, 7];

const troublesOf = ({ conditions }: Verdict): readonly string[] =>
  conditions
    .filter(({ status }) => status !== 'True')
    .map(({ type, status, reason }) => `${type.padEnd(typeWidth)}  ${status.padEnd(statusWidth)}  ${reason}`);

/** The conditions that are not True. A shoot that fares like one before it is told in one line. */
export const tellCare = (
  { shoots }: CareReport,
  names: readonly { readonly name: string; readonly namespace: string }[],
): readonly Line[] => {
  const told = new Map<string, string>();
  return shoots.flatMap((verdict): readonly Line[] => {
    const { namespace, conditions } = verdict;
    const name = names.find((shoot) => shoot.namespace === namespace)?.name ?? namespace;
    const troubles = troublesOf(verdict);
    if (troubles.length === 0) return [line(`all ${String(conditions.length)} conditions are True`, name)];
    const key = troubles.join('\n');
    const alike = told.get(key);
    if (alike !== undefined) return [line(`as ${alike}`, name)];
    told.set(key, name);
    return troubles.map((text) => line(text, name, 'bad'));
  });
};
