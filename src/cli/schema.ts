import { type Command, defineCommand } from './command.ts';
import { componentType, configs } from './configs.ts';
import { requiredFlag } from './parse-flags.ts';

const description = `Prints the JSON Schema (draft 2020-12) of a component's configuration. Editors use it to complete fields and to mark errors. "dwd validate" also checks the few rules that a schema cannot express.`;

export const schemaCommand: Command = defineCommand({
  name: 'schema',
  summary: 'print the JSON Schema of a configuration',
  description,
  flags: { component: requiredFlag(componentType, `Component that the configuration is for: ${componentType.takes}`) },
  async run({ flags }, io) {
    io.stdout(`${JSON.stringify(configs[flags.component].jsonSchema(), null, 2)}\n`);
    return 0;
  },
});
