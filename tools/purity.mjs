// ESLint's part of the architecture: restricts the use of time, randomness, `process` and I/O. dependency-cruiser.mjs restricts imports.

const sources = ['src/**/*.ts', 'simulator/**/*.ts'];
/** Files that run in a browser and use its time and network. */
const browserFiles = ['src/page/browser/**/*.{ts,tsx}'];
const tests = ['**/*.test.ts', '**/testing/**'];

/** Files whose results depend on their arguments only. */
const pureFiles = [
  'src/kubernetes/api/**',
  'src/gardener/**',
  'src/annotations/**',
  'src/prober/judge/**',
  'src/prober/clusters/lifecycle.ts',
  'src/prober/scale/{advance-shoot,desired,operation,patch-plan,scaling,snapshots}.ts',
  'src/weeder/judge/**',
  'src/care/judge/**',
  'src/preflight/checks/**',
  'src/healthcheck/judge.ts',
  'src/status/state/**',
  'src/page/feed/**',
  'src/page/browser/{commands,states}.ts',
];
const clockMessage = 'Time goes through the Clock port.';
const randomMessage = 'Random numbers go through the Random port.';
const processMessage = 'Only src/main.ts touches it.';
const htmlMessage = 'Text from outside is text.';
const pureMessage = 'This file is pure: take the value as an argument.';

const globals = (names, message) => names.map((name) => ({ name, message }));
const modules = (patterns, message) => [{ regex: `^(?:node:)?(?:${patterns.join('|')})$`, message }];

const clock = {
  globals: globals(['performance', 'setImmediate', 'setInterval', 'setTimeout'], clockMessage),
  modules: modules(['timers(?:/.*)?', 'perf_hooks'], clockMessage),
  properties: [
    { object: 'AbortSignal', property: 'timeout', message: clockMessage },
    { object: 'Date', property: 'now', message: clockMessage },
  ],
  syntax: [
    { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: clockMessage },
    // `Date` passed on as a value, or called without `new`.
    {
      selector:
        ':matches(VariableDeclarator, AssignmentExpression, AssignmentPattern, ReturnStatement, ArrayExpression) > Identifier[name="Date"]',
      message: clockMessage,
    },
    { selector: 'Property > Identifier.value[name="Date"]', message: clockMessage },
    { selector: 'CallExpression > Identifier[name="Date"]', message: clockMessage },
  ],
};
const random = {
  properties: [
    { object: 'Math', property: 'random', message: randomMessage },
    { property: 'randomUUID', message: randomMessage },
  ],
  syntax: [
    { selector: 'ImportSpecifier[imported.name="randomUUID"]', message: randomMessage },
    { selector: ':not(MemberExpression, VariableDeclarator) > Identifier[name="Math"]', message: randomMessage },
  ],
};
const processUse = {
  globals: globals(['process'], processMessage),
  modules: modules(['process'], processMessage),
};
const everywhere = { globals: globals(['globalThis'], 'Name what you use.') };
const literalImports = {
  syntax: [
    { selector: 'ImportExpression:not([source.type="Literal"])', message: 'A computed path cannot be checked.' },
  ],
};
/** Bans HTML and scripts from text: text from a cluster must never be parsed as HTML. */
const html = {
  globals: globals(['eval'], 'Nothing is made a script.'),
  properties: ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcdoc', 'dangerouslySetInnerHTML', 'write'].map(
    (property) => ({ property, message: htmlMessage }),
  ),
  syntax: [
    { selector: 'JSXAttribute[name.name=/^(?:dangerouslySetInnerHTML|srcDoc|innerHTML)$/]', message: htmlMessage },
  ],
};
const pure = {
  globals: globals(['crypto', 'fetch', 'queueMicrotask'], pureMessage),
  syntax: [
    // Date.parse, Date.UTC and new Date(ms).toISOString() depend only on their arguments; new Date(2026, 1) also depends on the time zone.
    {
      selector:
        'Identifier[name="Date"]:not(Property > Identifier.key):not(MemberExpression[property.name=/^(?:parse|UTC)$/] > Identifier):not(MemberExpression[property.name="toISOString"] > NewExpression[arguments.length=1][arguments.0.type!="SpreadElement"] > Identifier.callee)',
      message: pureMessage,
    },
  ],
};

/** Builds one configuration object for ESLint with these bans, plus the syntax bans in `base`. */
const ban = (files, ignores, base, bans) => {
  const all = (key) => bans.flatMap((one) => one[key] ?? []);
  return {
    files,
    ignores,
    rules: {
      'no-restricted-globals': ['error', ...all('globals')],
      'no-restricted-imports': ['error', { patterns: all('modules') }],
      'no-restricted-properties': ['error', ...all('properties')],
      'no-restricted-syntax': ['error', ...base, ...all('syntax')],
    },
  };
};

const shipped = [everywhere, literalImports, clock, random, processUse];

/** The only files that may do what a ban forbids to all others. */
const exceptions = [
  [clock, ['src/process/clock.ts', 'simulator/time/clock.ts']],
  [random, ['src/process/random.ts']],
  // It imports the simulator's bundle, whose path is computed at run time.
  [literalImports, ['src/cli/simulator.ts']],
  [processUse, ['src/main.ts']],
];

/** ESLint's configuration for purity. For each rule, the last matching object applies. `base`: other bans of `no-restricted-syntax`. */
export const purity = (base = []) => [
  ban(sources, tests, base, shipped),
  ban(browserFiles, tests, base, [everywhere, literalImports, random, processUse, html]),
  ...exceptions.map(([allowed, files]) =>
    ban(
      files,
      [],
      base,
      shipped.filter((one) => one !== allowed),
    ),
  ),
  ban(pureFiles, tests, base, [...shipped, pure]),
];
