import * as z from 'zod';

// Response to `GET /status` of a prober. Readers ignore fields that they do not know: a new field leaves `schemaVersion` as it is, and a field that changes or
// loses its meaning raises it.

const about = <T extends z.ZodType>(description: string, type: T): T => type.describe(description);

const time = (description: string) => about(`${description} (RFC 3339).`, z.iso.datetime({ offset: true }));
const count = (description: string) => about(description, z.int().min(0));
const milliseconds = (description: string) => about(`${description} (milliseconds).`, z.number());
const text = (description: string) => about(description, z.string());
const yes = (description: string) => about(description, z.boolean());

/** States of the protection of a shoot, the worst first. */
export const protectionStates = [
  'protected',
  'landing',
  'restoring',
  'confirming',
  'unreachable',
  'unknown',
  'flapping',
  'paused',
  'healthy',
] as const;

/**
 * `protected`: resources are held. `landing`: the outage is over, and the prober waits for late kubelets. `restoring`: held resources are scaled up.
 * `confirming`: a scale-down waits for a second observation. `flapping`: healthy, and an outage came soon after a restoration. `paused`: the prober continues
 * to judge, but scales nothing down. `unknown`: no prober has judged the shoot.
 */
export type ProtectionState = (typeof protectionStates)[number];

const pauseSchema = z.object({
  until: time('End of the pause; absent: it has no fixed end').optional(),
  reason: text('Reason for the pause.'),
  by: text('Operator who ordered the pause, or `the configuration`.'),
  on: text(
    'Scope of the pause: the namespace of a shoot, `all`, or `configuration` (also all shoots); absent: not known.',
  ).optional(),
});

const resourceSchema = z.object({ kind: text('Kind, such as Deployment.'), name: text('Name of the resource.') });

const heldSchema = z.object({
  kind: text('Kind, such as Deployment.'),
  name: text('Name of the resource.'),
  replicas: about('Replicas that will be restored.', z.int().min(1)),
  since: time('Time at which it was scaled down; absent if its annotation `held` does not have it').optional(),
});

export const heldUnprobedSchema = z.object({
  namespace: text("Namespace of the shoot's control plane in the seed."),
  project: text('Project of the shoot; absent if it is not known.').optional(),
  name: text('Name of the shoot; its namespace if the name is not known.'),
  reason: text('Why the shoot is not probed.'),
  held: about('Resources that are scaled down.', z.array(heldSchema).readonly()),
});

const leaseSchema = z.object({
  name: text('Name of the node, and of its Lease.'),
  renewedAt: time(
    'Time from which the age of the lease counts: its last renewal, or the end of a later downtime; absent: none',
  ).optional(),
  ageMs: milliseconds('Age of the lease; absent as `renewedAt` is').optional(),
  expired: yes('True if the age has reached `leaseExpiryMs`.'),
  counted: yes('True if the node is a candidate: its lease counts for the verdict.'),
  leftOut: text('Why the node is not a candidate.').optional(),
});

const stepSchema = z.object({
  kind: text('Kind, such as Deployment.'),
  name: text('Name of the resource.'),
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
    'The verdict in one word, as in the metric `dwd_prober_runs_total`, or the action: `scaled down`, `scaled up`, `given back`, `paused`, `resumed`, `released`.',
  ),
  reason: text('The verdict in words and numbers, or the details of the action, such as its resource.'),
  candidates: count(
    'Number of candidates; absent for an action, and if nodes and machines were not listed.',
  ).optional(),
  expired: count('Number of candidates whose lease has expired; absent as `candidates` is.').optional(),
  threshold: about('Share of expired candidates at which the shoot is protected.', z.number()),
});

export const shootSchema = z.object({
  namespace: text("Namespace of the shoot's control plane in the seed."),
  project: text('Project of the shoot; absent if it is not known.').optional(),
  name: text('Name of the shoot; its namespace if the name is not known.'),
  state: about('State of the protection, in one word.', z.enum(protectionStates)),
  since: time('Time at which this state began, as far as this replica knows'),
  reason: text('The last verdict in words and numbers.'),
  next: about(
    'Next step of the prober for this shoot.',
    z.object({
      text: text('The next step in words.'),
      at: time('Latest time of that step, or time of the next probe').optional(),
    }),
  ),
  candidates: count(
    'Number of leases that count: all leases if nodes and machines were not listed, 0 if no lease is known.',
  ),
  expired: count('Number of expired leases among them.'),
  nodes: count('Number of nodes; absent if they were not listed.').optional(),
  leftOut: count('Number of leases and nodes that do not count; absent as `nodes` is.').optional(),
  leaseExpiryMs: milliseconds('Age from which a lease counts as expired'),
  graceMs: milliseconds("KCM's grace period for nodes of this shoot"),
  lastRunEndedAt: time('Time at which the last probe ended; absent: none has').optional(),
  flapping: yes('True if an outage began soon after a restoration, so that the next restoration waits longer.'),
  paused: about('Pause that applies to the shoot; null if there is none.', pauseSchema.nullable()),
  marginMs: milliseconds(
    "Time left of KCM's grace period at the last scale-down write; absent: none was seen",
  ).optional(),
  held: about('Resources that meltdown protection has scaled down.', z.array(heldSchema).readonly()),
  unmet: yes(
    'True if the last verdict is an outage, and no resource is held or one is still up that should be scaled down: nodes are being lost, or will be in seconds. Absent: false.',
  ).optional(),
  ignored: about(
    'Resources that the annotation `ignore-scaling` keeps from being scaled down. Absent: none.',
    z.array(resourceSchema).readonly(),
  ).optional(),
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
    'Only with `?shoot=`: the last 50 decisions and actions, the oldest first.',
    z.array(decisionSchema).readonly(),
  ).optional(),
});

export const statusSchema = z.object({
  schemaVersion: about('Version of the format of this document.', z.literal(1)),
  component: about('Component that runs in the process.', z.literal('prober')),
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
    'Time at which the last round of probes ended: every shoot had been probed since the round before; absent: no round has ended',
  ).optional(),
  missingRights: about('Rights that this replica needs and lacks.', z.array(z.string()).readonly()),
  otherInstallations: about(
    'Namespaces of other probers that are active in the seed, each with its leader; absent: none is known.',
    z.array(z.string()).readonly(),
  ).optional(),
  paused: about('Pause of all shoots; null if there is none.', pauseSchema.nullable()),
  shoots: about(
    'All probed shoots; with `?shoot=NAMESPACE` only that shoot; empty if there are none.',
    z.array(shootSchema).readonly(),
  ),
  heldUnprobed: about(
    'Shoots that are not probed but have held resources, which nothing restores automatically. Absent: none.',
    z.array(heldUnprobedSchema).readonly(),
  ).optional(),
});

/** The same without its lists of shoots. */
export const statusHeaderSchema = statusSchema.omit({ shoots: true, heldUnprobed: true });

/** Status of a prober and its shoots at one moment. */
export type ProberStatus = z.infer<typeof statusSchema>;
export type ProbedShoot = z.infer<typeof shootSchema>;
export type HeldInShoot = z.infer<typeof heldSchema>;
export type HeldUnprobed = z.infer<typeof heldUnprobedSchema>;
export type ResourceInShoot = z.infer<typeof resourceSchema>;
export type LeaseEvidence = z.infer<typeof leaseSchema>;
export type ScalingProgress = z.infer<typeof scalingSchema>;
export type RecordedDecision = z.infer<typeof decisionSchema>;
export type PauseInForce = z.infer<typeof pauseSchema>;
