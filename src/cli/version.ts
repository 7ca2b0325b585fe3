import { commit, version } from './build-info.ts';
import { type Command, defineCommand } from './command.ts';

export const versionCommand: Command = defineCommand({
  name: 'version',
  summary: 'print version, commit and Node version',
  description: 'Prints the version of dwd, the commit it was built from and the version of Node that runs it.',
  flags: {},
  async run(_invocation, io) {
    io.stdout(`dwd ${version}, commit ${commit}, Node ${io.nodeVersion}\n`);
    return 0;
  },
});
