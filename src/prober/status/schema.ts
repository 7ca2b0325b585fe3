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
  until: time('When it ends; absent: when it is taken back').optional(),
  reason: text('Why.'),
  by: text('Who has ordered it.'),
  on: text(
    'What is paused: the namespace of a shoot, or `NAMESPACE/CLUSTER`, `all`, or `configuration`; absent: not known.',
  ).optional(),
});

const resourceSchema = z.object({ kind: text('Such as Deployment.'), name: text('Its name.') });

const heldSchema = z.object({
  kind: text('Such as Deployment.'),
  name: text('Its name.'),
  replicas: about('What will be restored.', z.int().min(1)),
  annotation: text(
    'Key of the annotation that protects it, and will be restored: it is not scaled. Absent: it is.',
  ).optional(),
  since: time('When it was scaled down, or annotated; absent where its annotation does not say').optional(),
});

const heldUnprobedSchema = z.object({
  namespace: text("Namespace of the shoot's control plane in the seed."),
  project: text('Its project; absent where it is not known.').optional(),
  name: text('Its name; the namespace where it is not known.'),
  reason: text('Why it is not probed.'),
  held: about('Resources that are scaled down, or annotated.', z.array(heldSchema).readonly()),
});

const leaseSchema = z.object({
  name: text('Of the Lease, and of its node.'),
  renewedAt: time('Its last renewal, as far as it can be believed; absent: none').optional(),
  ageMs: milliseconds('Time since that renewal; absent: none').optional(),
  expired: yes('Its age has reached `leaseExpiryMs`.'),
  counted: yes('It is a candidate: the verdict rests on it.'),
  leftOut: text('Why it is no candidate.').optional(),
});

const stepSchema = z.object({
  kind: text('Such as Deployment.'),
  name: text('Its name.'),
  level: about('Resources are scaled in ascending order of it.', z.int()),
  state: about(
    'What it waits for, or how it ended.',
    z.enum(['pending', 'delayed', 'reading', 'writing', 'waiting', 'retrying', 'done', 'failed']),
  ),
  detail: text('More of it, such as the error.').optional(),
});

const scalingSchema = z.object({
  direction: about('What is done with the resources.', z.enum(['down', 'up', 'release'])),
  reason: text('The verdict behind it.'),
  startedAt: time('When it began'),
  withoutLead: text('Why it is done by a replica that does not lead.').optional(),
  steps: about('One for each resource, in their order.', z.array(stepSchema).readonly()),
});

const decisionSchema = z.object({
  at: time('When the run ended, or the first of several in a row that came to the same, or when it was done'),
  lastAt: time('When the latest of these ended'),
  runs: about('How many these are; 1 where something was done.', z.int().min(1)),
  verdict: text(
    'Its verdict in one word, as in the metric `dwd_prober_runs_total`; or what was done: `scaled down`, `scaled up`, `annotated`, `restored`, `given back`, `paused`, `resumed`, `released`.',
  ),
  reason: text('The verdict in words and numbers, or to what it was done.'),
  candidates: count('Candidates; absent where nodes and machines were not listed.').optional(),
  expired: count('Expired ones among them; absent as `candidates` is.').optional(),
  threshold: about('Share of expired candidates from which the shoot is protected.', z.number()),
});

const shootSchema = z.object({
  namespace: text("Namespace of the shoot's control plane in the seed."),
  project: text('Its project; absent where it is not known.').optional(),
  name: text('Its name; the namespace where it is not known.'),
  state: about('In one word.', z.enum(protectionStates)),
  since: time('When this state began, as far as this replica has seen'),
  reason: text('The last verdict in words and numbers.'),
  next: about(
    'What happens next.',
    z.object({ text: text('In words.'), at: time('At the latest, or the next probe').optional() }),
  ),
  candidates: count('Leases that count; all leases where nodes and machines were not listed; 0 where none are known.'),
  expired: count('Expired ones among them.'),
  nodes: count('Nodes that there are; absent where they were not listed.').optional(),
  leftOut: count('Leases and nodes that do not count; absent as `nodes` is.').optional(),
  leaseExpiryMs: milliseconds('Age from which a lease counts as expired'),
  graceMs: milliseconds("KCM's grace for nodes of this shoot"),
  lastRunEndedAt: time('When the last probe ended; absent: none has').optional(),
  flapping: yes('An outage came soon after a restoration, so the next restoration waits for longer.'),
  paused: about('Its pause, if one is in force.', pauseSchema.nullable()),
  marginMs: milliseconds("What was left of KCM's grace at the last scale-down").optional(),
  held: about('Resources that meltdown protection has scaled down, or annotated.', z.array(heldSchema).readonly()),
  unmet: yes(
    'The last verdict is an outage, and nothing is held or something is up that would be scaled down: nodes are being lost, or will be in seconds. Absent: false.',
  ).optional(),
  ignored: about(
    'Resources that the annotation `ignore-scaling` keeps from being scaled down. Absent: none.',
    z.array(resourceSchema).readonly(),
  ).optional(),
  threshold: about(
    'Only with `?shoot=`: share of expired candidates from which it is protected.',
    z.number(),
  ).optional(),
  leases: about(
    'Only with `?shoot=`: all leases of the last list, and nodes that had none.',
    z.array(leaseSchema).readonly(),
  ).optional(),
  scaling: about('Only with `?shoot=`: what is being scaled; null: nothing.', scalingSchema.nullable()).optional(),
  decisions: about(
    'Only with `?shoot=`: the last 50, with what was done between them, the oldest first.',
    z.array(decisionSchema).readonly(),
  ).optional(),
});

export const statusSchema = z.object({
  schemaVersion: about('Of this document.', z.literal(1)),
  component: about('Of the process.', z.literal('prober')),
  identity: text('Of the replica, as in the leader Lease.'),
  version: text('Of the program.'),
  at: time('When this was true'),
  leads: yes('This replica leads, or runs without leader election.'),
  leadsSince: time('Since when it leads').optional(),
  standby: about('What it does while another leads (`--standby`).', z.enum(['hot', 'warm', 'cold'])),
  dryRun: yes('Nothing is written.'),
  configHash: text('First 12 digits of a SHA-256 of the settings in force: the same for the same configuration.'),
  probeIntervalMs: milliseconds('Configured time between two probes of a shoot'),
  lastRoundEndedAt: time(
    'The latest time at which every shoot had been probed since the round before; absent: never',
  ).optional(),
  missingRights: about('Rights that it needs and has not.', z.array(z.string()).readonly()),
  paused: about('The pause of all shoots, if one is in force.', pauseSchema.nullable()),
  shoots: about(
    'All that are probed; with `?shoot=NAMESPACE` that one, or those that share the namespace, or none.',
    z.array(shootSchema).readonly(),
  ),
  heldUnprobed: about(
    'Shoots that are not probed, and of which something is held: nothing restores it by itself. Absent: none.',
    z.array(heldUnprobedSchema).readonly(),
  ).optional(),
});

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
