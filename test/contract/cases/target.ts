import { type Api, type ContractTarget, createApi } from './api.ts';

/** One rule of the API, checked the same way on every server. Throws when the server breaks it. */
export interface ContractCase {
  readonly name: string;
  readonly run: (target: ContractTarget) => Promise<void>;
}

/** Returns the cases of one topic, with the topic before each name. */
export const topic = (
  name: string,
  cases: Readonly<Record<string, (api: Api) => Promise<void>>>,
): readonly ContractCase[] =>
  Object.entries(cases).map(([rule, run]) => ({ name: `${name}: ${rule}`, run: (target) => run(createApi(target)) }));
