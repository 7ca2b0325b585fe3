import * as z from 'zod';
import { shootStates } from './states.ts';

// Response to `GET /status` of a prober: what is known of each shoot, and what that means, in words that every view shows as they are.

const about = <T extends z.ZodType>(description: string, type: T): T => type.describe(description);

const time = (description: string) => about(`${description} (RFC 3339).`, z.iso.datetime({ offset: true }));
const count = (description: string) => about(description, z.int().min(0));
const milliseconds = (description: string) => about(`${description} (milliseconds).`, z.number());
const text = (description: string) => about(description, z.string());
const yes = (description: string) => about(description, z.boolean());

/** Causes for which an outage of a shoot would not be met, or would not end. */
export const unprotectedCauses = [
  'blind',
  'nodes-not-listed',
  'too-few-nodes',
  'missing',
  'not-served',
  'ignore-scaling',
  'grace',
  'paused',
  'dry-run',
] as const;

export type UnprotectedCause = (typeof unprotectedCauses)[number];

const pauseSchema = z.object({
  until: time('End of the pause; absent: it has no fixed end').optional(),
  reason: text('Reason for the pause.'),
  by: text('Operator who ordered the pause, or `the configuration`.'),
  on: text(
    'Scope of the pause: the namespace of a shoot, `all`, or `configuration` (also all shoots); absent: not known.',
  ).optional(),
});

const resourceSchema = z.object({ kind: text('Kind, such as Deployment.'), name: text('Name of the resource.') });

const ignoredSchema = resourceSchema.extend({
  isDown: yes('True if it has 0 replicas, so that nothing restores it.'),
});

const heldSchema = resourceSchema.extend({
  replicas: about('Replicas before it was scaled down.', z.int().min(1)),
  since: time('Time at which it was scaled down; absent if its annotation `held` does not have it').optional(),
});

const failingSchema = z.object({
  since: time('Start of the first of the failed runs in a row'),
  runs: about('Number of failed runs in a row.', z.int().min(1)),
  read: about('What could not be read.', z.enum(['leases', 'nodes', 'machines'])),
  reason: text('The error of the last of them: status code and message.'),
  kind: about(
    'Kind of the error. `credentials`: the Secret is missing or unusable, or the API server refuses what is in it. `rights`: a right is missing. `connection`: no answer. `answer`: another answer than was asked for.',
    z.enum(['credentials', 'rights', 'connection', 'answer']),
  ),
});

const accessSchema = z.object({
  secret: text('Namespace and name of the Secret with the kubeconfig.'),
  key: text("Key of the Secret's data."),
  server: text('Host and port of the API server in the kubeconfig; absent if that cannot be used.').optional(),
});

const landingSchema = z.object({
  renewed: count('Number of awaited nodes that renew again.'),
  awaited: count('Number of nodes that are waited for: those that were alive before the outage.'),
  late: about('Names of some that do not renew yet.', z.array(z.string()).readonly()),
  earliest: time('Earliest time of the restoration; absent: as soon as all renew').optional(),
  latest: time('Time at which the resources are restored even if some nodes do not renew'),
});

const progressSchema = z.object({
  direction: about(
    'down scales down, up restores, release gives up the held resources without scaling them.',
    z.enum(['down', 'up', 'release']),
  ),
  done: count('Number of resources that are done.'),
  total: count('Number of resources.'),
  awaited: about(
    'What is waited for; absent: an answer of the API server.',
    z.object({
      name: text('Name of the resource.'),
      why: text('What it does until then, such as `waits for its pods to follow`.'),
      until: time('At the latest until; absent: not known').optional(),
    }),
  ).optional(),
});

const failedWriteSchema = resourceSchema.extend({
  error: text('Why it could not be scaled: status code and message.'),
});

const leaseSchema = z.object({
  name: text('Name of the node, and of its Lease.'),
  renewedAt: time('Time of its last renewal; absent: none is known').optional(),
  ageMs: milliseconds('Age of the lease when it was last read (`lookedAt`); absent as `renewedAt` is').optional(),
  expired: yes('True if the lease had expired at that time.'),
  counted: yes('True if the node is a candidate: its lease counts for the verdict.'),
  leftOut: text('Why the node is not a candidate.').optional(),
});

const stepSchema = resourceSchema.extend({
  level: about('Level: resources are scaled in ascending order of level.', z.int()),
  state: about(
    'Current step of the operation, or how it ended.',
    z.enum(['pending', 'delayed', 'reading', 'writing', 'waiting', 'retrying', 'done', 'failed']),
  ),
  detail: text('Details of the state, such as the error.').optional(),
});

const scalingSchema = z.object({
  direction: about(
    'Direction: down scales down, up restores, release gives up the held resources without scaling them.',
    z.enum(['down', 'up', 'release']),
  ),
  reason: text('Reason, such as the verdict.'),
  startedAt: time('Start of the scaling'),
  withoutLead: text('Why a replica that does not lead scales down. Absent: it leads.').optional(),
  steps: about('Operations, one for each resource, in order.', z.array(stepSchema).readonly()),
});

const decisionSchema = z.object({
  at: time('End of the run or time of the action; for several equal ones in a row, that of the first'),
  lastAt: time('Time of the latest of these runs or actions'),
  runs: about('Number of these runs or actions.', z.int().min(1)),
  verdict: text(
    'The verdict in one word, as in the metric `dwd_prober_runs_total`, or the action: `scaled down`, `scaled up`, `given back`, `undone`, `paused`, `resumed`, `released`.',
  ),
  reason: text('The verdict in words and numbers, or the details of the action, such as its resource.'),
});

/** What is known of a shoot. */
const factsSchema = z.object({
  namespace: text("Namespace of the shoot's control plane in the seed."),
  project: text('Project of the shoot; absent if it is not known.').optional(),
  name: text('Name of the shoot; its namespace if the name is not known.'),
  notProbed: about(
    'Absent if the shoot is probed.',
    z.object({
      reason: text('Why the shoot is not probed.'),
      givesBack: yes('True if a prober gives its held resources back; false if nothing restores them by itself.'),
    }),
  ).optional(),
  lookedAt: time('Time of the last list of its leases. All counts and ages are as of it; absent: none yet').optional(),
  verdict: about(
    'Last verdict, of the last run that did not fail; absent: none yet.',
    z.enum(['healthy', 'unhealthy', 'confirming', 'landing', 'skipped']),
  ).optional(),
  reason: text('That verdict in words and numbers.'),
  outageSince: time(
    'Time at which the outage began that continues or for which resources are held; absent: there is none',
  ).optional(),
  failing: about(
    'Runs in a row that have failed until now; absent: the last run did not fail.',
    failingSchema,
  ).optional(),
  access: about('How its API server is reached; absent: not known.', accessSchema).optional(),
  candidates: count(
    'Number of leases that count: all leases if nodes and machines were never listed, 0 if no lease is known.',
  ),
  expired: count('Number of expired leases among them.'),
  inOutage: yes(
    'True if they make an outage by themselves, whatever else could not be read; absent: none was read.',
  ).optional(),
  silentForMs: milliseconds(
    'Time for which none of them had been renewed; absent: that is no reason for the verdict',
  ).optional(),
  excusedUntil: time(
    'End of a failure of its API server, from which silence counts: otherwise some of them would have expired; absent: none would',
  ).optional(),
  nodes: count('Number of nodes when they were last listed; absent: never.').optional(),
  leftOut: count('Number of leases and nodes that do not count; absent as `nodes` is.').optional(),
  leftOutReasons: about(
    'Why they do not count, each reason with its number, the most frequent first; absent: none.',
    z.array(z.object({ reason: text('The reason.'), nodes: count('Number of nodes.') })).readonly(),
  ).optional(),
  leaseExpiryMs: milliseconds('Age from which a lease counts as expired'),
  graceMs: milliseconds("KCM's grace period for nodes of this shoot"),
  actsAfterMs: milliseconds(
    'Age of the leases at which an outage can be seen at the earliest; absent: no lease is known',
  ).optional(),
  lastRunEndedAt: time('Time at which the last probe ended; absent: none has').optional(),
  nextRunAt: time('Time of the next probe; absent: it is under way, or there is none').optional(),
  flapping: yes('True if an outage began soon after a restoration, so that the next restoration waits longer.'),
  paused: about('Pause that applies to the shoot; null if there is none.', pauseSchema.nullable()),
  marginMs: milliseconds(
    "Time left of KCM's grace period at the last scale-down write; absent: none was seen",
  ).optional(),
  held: about('Resources that meltdown protection has scaled down.', z.array(heldSchema).readonly()),
  up: about(
    'Resources that should be down and are up: the last verdict is an outage, and the time to scale them down is over. Absent: none.',
    z.array(resourceSchema).readonly(),
  ).optional(),
  stillRunning: about(
    'Resources that are held at 0 in an outage while their pods still run, after their timeout. Absent: none.',
    z.array(resourceSchema).readonly(),
  ).optional(),
  unread: about(
    'Resources of which no watch shows yet whether they are up. Absent: none.',
    z.array(resourceSchema).readonly(),
  ).optional(),
  failedWrites: about(
    'Resources that could not be scaled since the verdict is what it is. Absent: none.',
    z.array(failedWriteSchema).readonly(),
  ).optional(),
  ignored: about(
    'Resources that the annotation `ignore-scaling` keeps from being scaled down, and from being restored. Absent: none.',
    z.array(ignoredSchema).readonly(),
  ).optional(),
  missing: about('Required resources that do not exist. Absent: none.', z.array(resourceSchema).readonly()).optional(),
  notServed: about(
    'Required resources whose kind the seed does not serve. Absent: none.',
    z.array(resourceSchema).readonly(),
  ).optional(),
  landing: about('What a restoration waits for; absent: none does.', landingSchema).optional(),
  publicAddress: about(
    'State of the public address of its API server, by the external probe; absent without one.',
    z.enum(['unknown', 'reachable', 'unreachable']),
  ).optional(),
  progress: about('Progress of a scaling; absent: none is under way.', progressSchema).optional(),
});

/** What that means. */
const toldSchema = z.object({
  state: about('State of the shoot.', z.enum(shootStates)),
  causes: about(
    'Why an outage would not be met, or would not end; empty: it would.',
    z.array(z.enum(unprotectedCauses)).readonly(),
  ),
  since: time('Time at which this state began, as far as this replica knows; absent: not known').optional(),
  why: text('Why the shoot is in this state, a sentence with numbers.'),
  next: about(
    'What the prober does next.',
    z.object({
      text: text('The next step in words; empty if there is none.'),
      at: time('Time of that step').optional(),
    }),
  ),
  do: text('What a person does; empty if nothing.'),
  runbook: text('Name of the runbook; absent: none.').optional(),
});

const detailsSchema = z.object({
  threshold: about(
    'Only with `?shoot=`: share of expired candidates at which the shoot is protected.',
    z.number(),
  ).optional(),
  leases: about(
    'Only with `?shoot=`: all leases of the last list, and the nodes that had no lease.',
    z.array(leaseSchema).readonly(),
  ).optional(),
  scaling: about(
    'Only with `?shoot=`: the scaling in progress; null if there is none.',
    scalingSchema.nullable(),
  ).optional(),
  decisions: about(
    'Only with `?shoot=`: the last 50 decisions and actions, the oldest first; for an hour after the shoot was probed last.',
    z.array(decisionSchema).readonly(),
  ).optional(),
});

export const shootSchema = z.object({ ...factsSchema.shape, ...toldSchema.shape, ...detailsSchema.shape });

export const statusSchema = z.object({
  schemaVersion: about('Version of the format of this document.', z.literal(1)),
  component: about('Component that runs in the process.', z.literal('prober')),
  seed: text('Name of the seed, from --seed-name or its Clusters; absent: neither says it.').optional(),
  identity: text('Identity of the replica, as in the Lease of the leader election.'),
  version: text('Version of the program.'),
  at: time('Time of this status'),
  leads: yes('True if this replica leads, or runs without leader election.'),
  leadsSince: time('Time since which this replica leads; absent: it does not lead').optional(),
  standby: about('Behaviour of this replica while another one leads (`--standby`).', z.enum(['hot', 'cold'])),
  dryRun: yes('True if nothing is written (`--dry-run`).'),
  configHash: text(
    'First 12 hexadecimal digits of a SHA-256 of the settings in force: the same for the same configuration.',
  ),
  probeIntervalMs: milliseconds('Configured time between two probes of a shoot'),
  lastRoundEndedAt: time(
    'Time since which every shoot has been probed; absent: not every shoot has been yet',
  ).optional(),
  missingRights: about('Rights that this replica needs and lacks.', z.array(z.string()).readonly()),
  otherInstallations: about(
    'Namespaces of other probers that are active in the seed, each with its leader; absent: none is known.',
    z.array(z.string()).readonly(),
  ).optional(),
  paused: about('Pause of all shoots; null if there is none.', pauseSchema.nullable()),
  shoots: about(
    'All shoots; with `?shoot=NAMESPACE` only that shoot; empty if there are none.',
    z.array(shootSchema).readonly(),
  ),
});

/** The same without its shoots. */
export const statusHeaderSchema = statusSchema.omit({ shoots: true });

/** Status of a prober and its shoots at one moment. */
export type ProberStatus = z.infer<typeof statusSchema>;
export type ShootStatus = z.infer<typeof shootSchema>;
export type HeldInShoot = z.infer<typeof heldSchema>;
export type ShootFacts = z.infer<typeof factsSchema>;
export type ShootTold = z.infer<typeof toldSchema>;
export type FailingRuns = z.infer<typeof failingSchema>;
export type ShootAccess = z.infer<typeof accessSchema>;
export type FailedWrite = z.infer<typeof failedWriteSchema>;
export type ResourceInShoot = z.infer<typeof resourceSchema>;
export type IgnoredResource = z.infer<typeof ignoredSchema>;
export type LeaseEvidence = z.infer<typeof leaseSchema>;
export type ScalingProgress = z.infer<typeof scalingSchema>;
export type RecordedDecision = z.infer<typeof decisionSchema>;
export type PauseInForce = z.infer<typeof pauseSchema>;
