import { quoted } from '../../status/state/do.ts';
import type { ShootStatus } from '../../status/state/schema.ts';

export interface PageCommand {
  readonly about: string;
  readonly line: string;
}

/** Splits what a person does into its words and the command at its end, if there is one. */
export const splitDo = (what: string): { readonly words: string; readonly line?: string | undefined } => {
  const [, words = what, line] = /^(.*?)\s*\b((?:dwd|kubectl) .*)$/s.exec(what) ?? [];
  return { words, line };
};

const forState = ({ namespace, state, held, failing, access }: ShootStatus): readonly PageCommand[] => {
  const shoot = quoted(namespace);
  const controllers = {
    about: 'list the controllers of its control plane',
    line: `kubectl -n ${shoot} get deployments`,
  };
  const events = { about: 'list its Events', line: `kubectl -n ${shoot} get events --sort-by=.lastTimestamp` };
  const pods = { about: 'see how its control plane is', line: `kubectl -n ${shoot} get pods` };
  switch (state) {
    case 'losing nodes':
    case 'held':
      return [controllers, events];
    case 'blind': {
      const [secretNamespace = '', secret = ''] = (access?.secret ?? '').split('/');
      const readSecret = {
        about: 'see its Secret',
        line: `kubectl -n ${quoted(secretNamespace)} describe secret ${quoted(secret)}`,
      };
      const release = {
        about: 'restore it without knowing whether its outage is over',
        line: `dwd release --shoot ${shoot}`,
      };
      return [
        failing?.kind === 'credentials' && secret !== '' ? readSecret : pods,
        ...(held.length === 0 ? [] : [release]),
      ];
    }
    case 'not protected':
      return [controllers];
    case 'landing':
      return [{ about: 'restore it now, without the late nodes', line: `dwd release --shoot ${shoot}` }];
    case 'restoring':
      return [controllers];
    case 'flapping':
    case 'confirming':
      return [pods];
    case 'healthy':
      return [
        { about: 'before maintenance: pause scale-downs', line: `dwd pause --shoot ${shoot} --for 1h --reason 'WHY'` },
      ];
    case 'paused':
    case 'not probed':
      return [];
  }
};

/** Returns shell commands for a shoot in its present state, beside the one that a person has to run. */
export const commandsFor = (shoot: ShootStatus): readonly PageCommand[] => [
  { about: 'see the whole argument', line: `dwd explain ${quoted(shoot.namespace)}` },
  ...forState(shoot),
];
