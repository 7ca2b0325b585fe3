/** A text that stands once in the file, and the text in its place that switches the rule off. */
export interface Patch {
  /** Path from `src/prober`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A rule of judgement or a guard of the prober. */
export interface Rule {
  readonly name: string;
  /** What it is for, in one line. */
  readonly purpose: string;
  readonly patches: readonly Patch[];
}

const judgement: readonly Rule[] = [
  {
    name: 'all-silent',
    purpose: 'three or more nodes that fall silent together have a common cause, which shows before leases expire',
    patches: [
      {
        file: 'judge/leases.ts',
        find: 'silentAt: Math.max(silentSince + silentAgeOf({ durationMs }, settings), countsFrom),',
        replace: 'silentAt: Number.POSITIVE_INFINITY,',
      },
    ],
  },
  {
    name: 'all-silent-confirmed',
    purpose: 'the silence of all counts only in a second look after 2 s',
    patches: [
      {
        file: 'judge/decide.ts',
        find: 'return wasAnswered ? confirmAfterMs : unansweredMs;',
        replace: 'return wasAnswered ? 0 : unansweredMs;',
      },
    ],
  },
  {
    name: 'unanswered-confirmed',
    purpose: 'the silence of all counts only after 7.5 s if no list was answered while all were silent',
    patches: [
      {
        file: 'judge/decide.ts',
        find: 'return wasAnswered ? confirmAfterMs : unansweredMs;',
        replace: 'return confirmAfterMs;',
      },
    ],
  },
  {
    name: 'cut-off-confirmed',
    purpose: 'after a time in which only we could not connect, an outage is looked at again after 7.5 s',
    patches: [
      {
        file: 'judge/decide.ts',
        find: 'const { cutOffUntil = Number.NEGATIVE_INFINITY } = memory;',
        replace: 'const cutOffUntil = Number.NEGATIVE_INFINITY;',
      },
    ],
  },
  {
    name: 'first-looks',
    purpose: 'expired leases that no earlier list shows are looked at again after 2 s',
    patches: [
      {
        file: 'judge/decide.ts',
        find: 'return known >= neededOf(candidates.length, settings) ? 0 : confirmAfterMs;',
        replace: 'return 0;',
      },
    ],
  },
  {
    name: 'deadline-looks',
    purpose: 'the next look comes when a rule would hold, not only at the next tick',
    patches: [
      {
        file: 'judge/decide.ts',
        find: 'nextRunAt: nextRunAt(input, mayTurnAt),',
        replace: 'nextRunAt: nextRunAt(input),',
      },
      { file: 'judge/decide.ts', find: ', lookAt: crossedAt }', replace: ' }' },
    ],
  },
  {
    name: 'long-leases',
    purpose: 'nodes whose own lease is long do not keep their neighbours from counting as all silent',
    patches: [
      {
        file: 'judge/leases.ts',
        find: 'const isDue = halfMs <= expiryAgeOf(lease, settings);',
        replace: 'const isDue = true;',
      },
    ],
  },
  {
    name: 'external-trigger',
    purpose: 'mode trigger: while the public address is unreachable, 15 s of silence are enough',
    patches: [
      { file: 'judge/leases.ts', find: 'isTriggered ? Math.min(usualMs, triggeredMs) : usualMs;', replace: 'usualMs;' },
    ],
  },
  {
    name: 'excuse',
    purpose: 'silence counts from the end of a failure that the API server has proved, because nobody could renew',
    patches: [
      {
        file: 'judge/excuse.ts',
        find: 'if (provedSince === undefined || until - provedSince < excuseMs) return',
        replace: 'return',
      },
    ],
  },
  {
    name: 'landing',
    purpose: 'controllers are restored when all kubelets are back, not when enough are (switches flapping off as well)',
    patches: [
      { file: 'judge/landing.ts', find: 'awaited.length === 0 || settings.landingTimeoutMs === 0', replace: 'true' },
    ],
  },
  {
    name: 'flapping',
    purpose: 'after a second outage all nodes must renew for two minutes before controllers are restored',
    patches: [{ file: 'judge/landing.ts', find: 'outage.isFlapping === true ? renewingMs : 0;', replace: '0;' }],
  },
];

const ages: readonly Rule[] = [
  {
    name: 'server-stamp',
    purpose: "a lease's age comes from the API server's own stamp, not from the node's clock",
    patches: [{ file: 'judge/leases.ts', find: 'stampMs >= renewedMs - stampToleranceMs;', replace: 'false;' }],
  },
  {
    name: 'watched-bounds',
    purpose: 'what we have watched of a lease bounds its age',
    patches: [
      {
        file: 'judge/leases.ts',
        find: 'Math.min(shownAt, Math.max(changedAfter, byClock));',
        replace: 'byClock;',
      },
    ],
  },
  {
    name: 'one-clock',
    purpose: 'a lease whose age rests on one clock alone is watched unrenewed for an interval before it counts',
    patches: [
      {
        file: 'judge/leases.ts',
        find: 'isTrusted ? Number.NEGATIVE_INFINITY : shownAt + renewalIntervalOf({ durationMs });',
        replace: 'Number.NEGATIVE_INFINITY;',
      },
    ],
  },
  {
    name: 'agreed-clocks',
    purpose: "an API server's stamp rests on one clock alone if that clock differs from ours by more than 5 s",
    patches: [{ file: 'judge/leases.ts', find: ' && Math.abs(list.skewMs ?? 0) <= agreedSkewMs;', replace: ';' }],
  },
  {
    name: 'least-age',
    purpose: 'a lease expires after 1.25 renewal intervals at the earliest, however short the grace period',
    patches: [
      {
        file: 'judge/leases.ts',
        find: 'Math.max(expiryAgeMs, intervalsToExpiry * renewalIntervalOf(lease));',
        replace: 'expiryAgeMs;',
      },
    ],
  },
];

const requests: readonly Rule[] = [
  {
    name: 'repeat',
    purpose: 'a failed request of a run is repeated once, at once, on a new connection',
    patches: [
      {
        file: 'observe/run-requests.ts',
        find: 'if (sent.ok || !(sent.error instanceof ApiError)) return false;',
        replace: 'return false;',
      },
    ],
  },
  {
    name: 'second-request',
    purpose: 'after 5 s without an answer a second request goes out beside the first',
    patches: [
      {
        file: 'observe/run-requests.ts',
        find: 'clock.timer(secondAfterMs,',
        replace: 'clock.timer(Number.MAX_SAFE_INTEGER,',
      },
    ],
  },
  {
    name: 'retry',
    purpose: 'a run that fails while leases are old is repeated after 2 s, not at the next tick',
    patches: [
      {
        file: 'judge/retry.ts',
        find: 'nextRunAt(input, Math.max(now + repeatMs, mayBeOutageFrom(input)))',
        replace: 'nextRunAt(input)',
      },
    ],
  },
  {
    name: 'throttled',
    purpose: 'after a 429 the next run waits for 1 to 10 s',
    patches: [
      {
        file: 'judge/retry.ts',
        find: "isApiError(error, 'TooManyRequests') && failure !== 'machine_list_failed'",
        replace: 'false',
      },
    ],
  },
  {
    name: 'slow-answers',
    purpose: 'where answers take long, requests run side by side, and leases are listed twice',
    patches: [
      {
        file: 'observe/probe.ts',
        find: 'const isSlow = (memory.slowestResponseMs ?? 0) > Math.min(slowAnswerMs, timeoutMs / 4);',
        replace: 'const isSlow = false;',
      },
    ],
  },
  {
    name: 'lazy-lists',
    purpose: 'nodes and machines are not listed while they cannot change the verdict',
    patches: [
      {
        file: 'judge/decide.ts',
        find: "isKnown ? 'nothing' : 'knowledge';",
        replace: "isKnown ? 'decision' : 'knowledge';",
      },
    ],
  },
  {
    name: 'known-before',
    purpose: 'they are listed every 5 minutes nevertheless, so that a missing right is known before an outage',
    patches: [
      {
        file: 'judge/decide.ts',
        find: 'const isKnown = answered.candidates !== undefined && now - answered.candidates.at < eagerEveryMs;',
        replace: 'const isKnown = true;',
      },
    ],
  },
];

const scaling: readonly Rule[] = [
  {
    name: 'verdict-age',
    purpose: 'nothing is restored on a verdict older than two probe intervals',
    patches: [{ file: 'scale/desired.ts', find: ' || !isRecent(desired, context)', replace: '' }],
  },
  {
    name: 'down-age',
    purpose: 'while runs fail, no scale-down begins on a verdict older than two probe intervals',
    patches: [
      {
        file: 'scale/advance-shoot.ts',
        find: 'if (scaling === undefined && !isRecent(desired, context)) return state;',
        replace: '',
      },
    ],
  },
  {
    name: 'suspension',
    purpose: 'a process that was suspended scales nothing until its next verdict',
    patches: [
      {
        file: 'scale/advance-shoot.ts',
        find: 'now: number): boolean => now > dueAt + suspensionMs;',
        replace: 'now: number): boolean => false;',
      },
    ],
  },
  {
    name: 'recheck',
    purpose: 'a scale-up stops, and a scale-down repeats, when somebody changes what it has scaled',
    patches: [
      {
        file: 'scale/operation.ts',
        find: 'return recheck(operation, context);',
        replace: 'return { operation };',
      },
    ],
  },
  {
    name: 'undone-at-once',
    purpose: 'what somebody scales up in an outage is scaled down at once, not with the next verdict',
    patches: [
      {
        file: 'scale/advance-shoot.ts',
        find: "(isTried && direction !== 'down')",
        replace: 'isTried',
      },
    ],
  },
  {
    name: 'level-cutoff',
    purpose: 'a resource that cannot be scaled down delays the next level by 3 s at most',
    patches: [
      {
        file: 'scale/scaling.ts',
        find: 'operation.startedAt +',
        replace: 'Number.POSITIVE_INFINITY +',
      },
    ],
  },
];

const standby: readonly Rule[] = [
  {
    name: 'hot-standby',
    purpose: 'a replica that does not lead scales down what the leader leaves up',
    patches: [
      {
        file: 'scale/desired.ts',
        find: 'const standsIn = role.mayStandIn &&',
        replace: 'const standsIn = false &&',
      },
    ],
  },
  {
    name: 'leader-time',
    purpose: 'the leader has 3 s before a standby acts',
    patches: [{ file: 'scale/desired.ts', find: 'now >= unmetSince + leaderTimeMs;', replace: 'true;' }],
  },
  {
    name: 'old-evidence',
    purpose: 'what comes up after a verdict, a standby scales down on evidence of a later run only',
    patches: [{ file: 'scale/desired.ts', find: 'unmetSince <= desired.judgedAt && ', replace: '' }],
  },
];

/** Today's rules of judgement and guards, in the order of the table. */
export const rules: readonly Rule[] = [...judgement, ...ages, ...requests, ...scaling, ...standby];

/** Applies a rule's patches of one file to its source. Throws if a text does not stand there exactly once: the code has changed. */
export const applyPatches = ({ name, patches }: Rule, file: string, source: string): string =>
  patches
    .filter((patch) => patch.file === file)
    .reduce((text, { find, replace }) => {
      const parts = text.split(find);
      if (parts.length !== 2) throw new Error(`bench/worth/rules.ts: ${name} does not fit src/prober/${file}: ${find}`);
      return parts.join(replace);
    }, source);
