import { type Command, defineCommand } from './command.ts';
import { configComponentFlag, configs } from './configs.ts';

const description = `Prints the JSON Schema (draft 2020-12) of a component's configuration, for editors. With it they complete the fields and mark what is wrong; "dwd validate" checks the few things that a schema cannot say as well.`;

export const schemaCommand: Command = defineCommand({
  name: 'schema',
  summary: 'print the JSON Schema of a configuration',
  description,
  flags: { component: configComponentFlag },
  async run({ flags }, io) {
    io.stdout(`${JSON.stringify(configs[flags.component].jsonSchema(), null, 2)}\n`);
    return 0;
  },
});
