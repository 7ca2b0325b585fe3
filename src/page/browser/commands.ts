import type { ShootStatus } from '../../status/state/schema.ts';

/** Quotes any `text` as one word of a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const ignoreScaling = 'dependency-watchdog.gardener.cloud/ignore-scaling';

export interface PageCommand {
  readonly about: string;
  readonly line: string;
}

/** Returns shell commands for actions that the page does not offer. */
export const commandsFor = ({ namespace, ignored = [] }: ShootStatus): readonly PageCommand[] => {
  const shoot = quoted(namespace);
  return [
    { about: 'print the last verdict and its evidence', line: `dwd explain ${shoot}` },
    ...ignored.map(({ kind, name }) => ({
      about: `protect ${name} again: remove ignore-scaling`,
      line: `kubectl -n ${shoot} annotate ${quoted(`${kind.toLowerCase()}/${name}`)} ${ignoreScaling}-`,
    })),
    { about: 'pause scale-downs for an hour', line: `dwd pause --shoot ${shoot} --for 1h --reason 'WHY'` },
    { about: 'end the pause', line: `dwd resume --shoot ${shoot}` },
    { about: 'restore held resources now', line: `dwd release --shoot ${shoot}` },
    { about: 'list the controllers of its control plane', line: `kubectl -n ${shoot} get deployments` },
    { about: 'list its Events', line: `kubectl -n ${shoot} get events --sort-by=.lastTimestamp` },
  ];
};
