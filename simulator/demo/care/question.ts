import { type Line, line } from '../line.ts';
import type { WatchedShoot } from '../observe.ts';
import { type CareReport, tellCare } from './verdicts.ts';

/** A look by care, once in the story, beside which the story goes on. */
export interface CareQuestion {
  /** Asks the first time that it is called, and tells so. */
  ask(): void;
  /** Whether there is an answer, or will be none. */
  readonly isAnswered: boolean;
  /** What is to be told of question and answer, each once. */
  take(): readonly Line[];
}

export interface CareQuestionInit {
  /** Asks care of all shoots. Rejects with an error whose message says why it cannot be asked. */
  readonly askCare: () => Promise<CareReport>;
  readonly shoots: readonly WatchedShoot[];
}

const question = line('care is asked how the shoots are: dwd care --once', '', 'act');
const title = line('what care has found then:', '', 'act');

export const createCareQuestion = ({ askCare, shoots }: CareQuestionInit): CareQuestion => {
  let asked = false;
  let isAnswered = false;
  let untold: readonly Line[] = [];
  const answer = (lines: readonly Line[]): void => {
    isAnswered = true;
    untold = [...untold, ...lines];
  };
  return {
    ask: () => {
      if (asked) return;
      asked = true;
      untold = [question];
      askCare().then(
        (report) => answer([title, ...tellCare(report, shoots)]),
        (error: unknown) => answer([line(`care could not be asked: ${(error as Error).message}`, '', 'bad')]),
      );
    },
    get isAnswered() {
      return isAnswered;
    },
    take: () => {
      const lines = untold;
      untold = [];
      return lines;
    },
  };
};
