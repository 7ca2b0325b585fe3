import { quoted } from '../../status/state/do.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import type { ShootState } from '../../status/state/states.ts';

export interface PageCommand {
  readonly about: string;
  readonly line: string;
}

/** Splits what a person does into its steps: the words of each, and the command at its end, if there is one. */
export const splitDo = (what: string): readonly { readonly words: string; readonly line?: string }[] =>
  what.split('; ').map((step) => {
    const at = step.search(/\b(?:dwd|kubectl) /);
    return at === -1 ? { words: step } : { words: step.slice(0, at).trimEnd(), line: step.slice(at) };
  });

/** States, what a command does in them, and the command with `S` for the shoot. */
const table: readonly (readonly [states: readonly ShootState[], about: string, line: string])[] = [
  [['losing nodes', 'not protected', 'held', 'restoring'], 'list its controllers', 'kubectl -n S get deployments'],
  [['losing nodes', 'held'], 'list its Events', 'kubectl -n S get events --sort-by=.lastTimestamp'],
  [['blind', 'flapping', 'confirming'], 'list the pods of its control plane', 'kubectl -n S get pods'],
  [['landing'], 'restore it now, without the late nodes', 'dwd release --shoot S'],
  [['healthy'], 'before maintenance: pause scale-downs', "dwd pause --shoot S --for 1h --reason 'WHY'"],
];

/** Returns shell commands for a shoot in its present state, beside the one that a person has to run. */
export const commandsFor = ({ namespace, state, held }: ShootStatus): readonly PageCommand[] => {
  const shoot = quoted(namespace);
  const some = table.filter(([states]) => states.includes(state));
  const commands = some.map(([, about, line]) => ({ about, line: line.replace(' S', () => ` ${shoot}`) }));
  if (state === 'blind' && held.length > 0) {
    commands.push({ about: 'restore it, although its outage may go on', line: `dwd release --shoot ${shoot}` });
  }
  return [{ about: 'see the whole argument', line: `dwd explain ${shoot}` }, ...commands];
};
