// One of the processes that share the plans: it gets its range as arguments and sends its results back as messages.
import { argv } from 'node:process';
import { type Played, playRange } from './play.ts';

export type WorkerMessage =
  | { readonly kind: 'failure'; readonly lines: readonly string[] }
  | { readonly kind: 'played one' }
  | { readonly kind: 'over'; readonly played: Played };

const report = (message: WorkerMessage): void => void process.send?.(message);

const [from = 0, runs = 0] = argv.slice(2).map(Number);
const played = await playRange(
  { from, runs },
  { onFailure: (lines) => report({ kind: 'failure', lines }), onPlayed: () => report({ kind: 'played one' }) },
);
report({ kind: 'over', played });
process.disconnect();
