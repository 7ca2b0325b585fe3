// Generates TypeScript declarations from a JSON Schema, as far as the schemas of the configurations need it.

const comment = (text, indent) => (text === undefined ? '' : `${indent}/** ${text} */\n`);

const objectType = ({ properties, required = [] }, indent) => {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const fallback = field.default === undefined ? '' : ` Default: \`${JSON.stringify(field.default)}\`.`;
    const about = field.description === undefined ? undefined : `${field.description}${fallback}`;
    const mark = required.includes(name) ? '' : '?';
    return `${comment(about, inner)}${inner}readonly ${name}${mark}: ${typeOf(field, inner)};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
};

const union = (types) => [...new Set(types)].join(' | ');

/** Converts a schema to a TypeScript type. Throws if it does not support a keyword of the schema. */
const typeOf = (schema, indent) => {
  const { type, const: only, enum: choices, anyOf, items, properties, additionalProperties } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (choices !== undefined) return union(choices.map((choice) => JSON.stringify(choice)));
  if (properties !== undefined) return objectType(schema, indent);
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `{ readonly [key: string]: ${typeOf(additionalProperties, indent)} }`;
  }
  if (type === 'array') return `readonly (${typeOf(items, indent)})[]`;
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean') return type;
  if (anyOf !== undefined) return union(anyOf.map((one) => typeOf(one, indent)));
  throw new Error(`no type for ${JSON.stringify(schema)}`);
};

/** Declares an interface of that name for the object that the schema describes. */
export const interfaceOf = (name, schema) =>
  `${comment(`${schema.title}: its YAML or JSON file.`, '')}export interface ${name} ${objectType(schema, '')}\n`;
