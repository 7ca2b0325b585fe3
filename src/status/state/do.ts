import type { PauseInForce, ResourceInShoot, ShootFacts, UnprotectedCause } from './schema.ts';
import { listed } from './words.ts';

const ignoreScaling = 'dependency-watchdog.gardener.cloud/ignore-scaling';

/** Quotes any `text` as one word of a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns the command that removes the annotation of all these. */
const unignore = (namespace: string, ignored: readonly ResourceInShoot[]): string => {
  const names = ignored.map(({ kind, name }) => quoted(`${kind.toLowerCase()}/${name}`));
  return `kubectl -n ${quoted(namespace)} annotate ${names.join(' ')} ${ignoreScaling}-`;
};

/** Returns the command, or the change of the configuration, that ends a pause. */
const resuming = ({ on }: PauseInForce, namespace: string): string => {
  if (on === 'configuration') return 'remove `paused` from the configuration';
  return on === 'all' ? 'dwd resume --all' : `dwd resume --shoot ${quoted(on ?? namespace)}`;
};

/** Returns what makes a blind shoot seen again. */
const mendAccess = ({ failing, access, held }: ShootFacts): string => {
  const after = held.length === 0 ? '' : '; nothing is restored before';
  switch (failing?.kind) {
    case undefined:
      return '';
    case 'credentials':
      return `renew the Secret${access === undefined ? '' : ` ${access.secret}`}${after}`;
    case 'rights':
      return `grant the right that is missing${after}`;
    case 'connection':
      return `mend ${failing.read === 'machines' ? "the seed's API server" : 'its API server, or the way to it'}${after}`;
    case 'answer':
      return `find out why ${failing.read === 'machines' ? "the seed's API server" : 'its API server'} answers so${after}`;
  }
};

/** Returns what a person does so that an outage would be met; empty if nothing. */
export const protect = (cause: UnprotectedCause, facts: ShootFacts): string => {
  const { namespace, paused, missing = [], notServed = [], ignored = [] } = facts;
  switch (cause) {
    case 'paused':
      return paused === null ? '' : `to end the pause: ${resuming(paused, namespace)}`;
    case 'missing':
      return `create ${listed(missing)}, or make it optional in the configuration`;
    case 'not-served':
      return `install the kind of ${listed(notServed)}, or remove it from the configuration`;
    case 'ignore-scaling':
      return ignored.length === 0 ? '' : `to end that: ${unignore(namespace, ignored)}`;
    case 'too-few-nodes':
      return (facts.nodes ?? 0) < 2 ? 'nothing, unless it should have more nodes' : 'mend the nodes that do not count';
    case 'grace':
      return 'make the node monitor grace period longer';
    case 'dry-run':
      return 'run the prober without --dry-run';
    case 'nodes-not-listed':
    case 'blind':
      return mendAccess(facts);
  }
};
