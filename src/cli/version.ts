import { commit, version } from './build-info.ts';
import { type Command, defineCommand } from './command.ts';
import { formatDocument, outputFlag } from './output.ts';

export const versionCommand: Command = defineCommand({
  name: 'version',
  summary: 'print version, commit and Node version',
  description: 'Prints the version of dwd, the commit it was built from and the version of Node that runs it.',
  flags: { output: outputFlag() },
  async run({ flags: { output } }, io) {
    const line = `dwd ${version}, commit ${commit}, Node ${io.nodeVersion}\n`;
    io.stdout(output === 'table' ? line : formatDocument({ version, commit, node: io.nodeVersion }, output));
    return 0;
  },
});
