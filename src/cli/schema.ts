import { careJsonSchema, type JsonSchema, proberJsonSchema, weederJsonSchema } from '../config/index.ts';
import { type Command, defineCommand } from './command.ts';
import { choice } from './flag-types.ts';
import { requiredFlag } from './flags.ts';

const schemas = { prober: proberJsonSchema, weeder: weederJsonSchema, care: careJsonSchema } as const satisfies Record<
  string,
  () => JsonSchema
>;

type Component = keyof typeof schemas;

const description = `Prints the JSON Schema (draft 2020-12) of a component's configuration, for editors. With it they complete the fields and mark what is wrong; "dwd validate" checks the few things that a schema cannot say as well.`;

export const schemaCommand: Command = defineCommand({
  name: 'schema',
  summary: 'print the JSON Schema of a configuration',
  description,
  flags: {
    component: requiredFlag(
      choice<Component>('component', ['prober', 'weeder', 'care']),
      'Whose configuration it is: prober, weeder or care',
    ),
  },
  async run({ flags }, io) {
    io.stdout(`${JSON.stringify(schemas[flags.component](), null, 2)}\n`);
    return 0;
  },
});
