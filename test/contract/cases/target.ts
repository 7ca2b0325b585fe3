import type { Api } from './api.ts';

/** A rule of the API, checked the same way on every server: its name, and a function that throws when the server breaks it. */
export type ContractCase = readonly [name: string, run: (api: Api) => Promise<void>];

/** Returns the cases of one topic, with the topic before each name. */
export const topic = (name: string, cases: Readonly<Record<string, ContractCase[1]>>): readonly ContractCase[] =>
  Object.entries(cases).map(([rule, run]) => [`${name}: ${rule}`, run]);
