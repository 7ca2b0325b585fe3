import type { CareResults } from '../care/index.ts';
import { plural } from '../status/state/words.ts';
import { escapeControls, indented, textColumns } from '../telemetry/index.ts';
import { type OutputFormat, colourBy, formatDocument } from './output.ts';

type Shoot = CareResults[number];
type Condition = Shoot['conditions'][number];

/** Widths of the longest type, ObservabilityComponentsHealthy, and of the longest status, Progressing. */
const [typeWidth, statusWidth] = [30, 11];

/** Colours a status of a shoot or of a condition. */
const paint = colourBy({
  True: 'green',
  healthy: 'green',
  Progressing: 'yellow',
  progressing: 'yellow',
  False: 'red',
  unhealthy: 'red',
  Unknown: 'magenta',
  unknown: 'magenta',
});

const inset = (text: string): readonly string[] => indented(text, 4, { breaksWords: true });

/** Formats a condition, with its message only if the status is not True. */
const conditionLines = ({ type, status, reason, message, codes = [] }: Condition): readonly string[] => {
  const head = `  ${type.padEnd(typeWidth)}  ${paint(status, status.padEnd(statusWidth))}  `;
  const fits = typeWidth + statusWidth + 6 + reason.length <= textColumns;
  return [
    fits ? `${head}${reason}` : head.trimEnd(),
    ...(fits ? [] : inset(reason)),
    ...(status === 'True' ? [] : inset(message)),
    ...(codes.length === 0 ? [] : inset(codes.join(', '))),
  ];
};

const problemOf = ({ problem, writing }: Shoot): string =>
  problem === undefined ? (writing.trouble ?? '') : `could not be checked: ${problem}`;

const shootLines = (care: Shoot): readonly string[] => {
  const { namespace, shoot, status, conditions } = care;
  const trouble = problemOf(care);
  const name = shoot === undefined ? namespace : `${namespace} (${shoot.namespace}/${shoot.name})`;
  return [
    `${name}: ${paint(status, status)}`,
    ...(trouble === '' ? [] : inset(trouble)),
    ...conditions.flatMap(conditionLines),
    '',
  ];
};

const severity = ['unhealthy', 'unknown', 'progressing', 'healthy'] as const;

/** If there are more shoots than this, those without any problem are only counted. */
const mostInFull = 10;

const summaryOf = (cares: CareResults): string => {
  const counts = severity.flatMap((status) => {
    const count = cares.filter((care) => care.status === status).length;
    return count === 0 ? [] : [paint(status, `${count} ${status}`)];
  });
  return [plural(cares.length, 'shoot'), ...(counts.length === 0 ? [] : [counts.join(', ')])].join(': ');
};

const isAllWell = (care: Shoot): boolean =>
  care.conditions.length > 0 &&
  care.conditions.every(({ status }) => status === 'True') &&
  care.status === 'healthy' &&
  problemOf(care) === '';

/** Joins every text into one line and escapes its control characters. */
const inPlainLines = (cares: CareResults): CareResults =>
  JSON.parse(JSON.stringify(cares), (_name, value: unknown) =>
    typeof value === 'string' ? escapeControls(value.split(/\s+/).join(' ')) : value,
  ) as CareResults;

/** Prints the worst shoots first, and the summary last, because a terminal shows the end of long output. */
const table = (cares: CareResults): string => {
  const rank = ({ status }: Shoot): number => severity.indexOf(status);
  const shown = cares.length > mostInFull ? cares.filter((care) => !isAllWell(care)) : cares;
  const omitted = cares.length - shown.length;
  return [
    ...shown.toSorted((a, b) => rank(a) - rank(b)).flatMap(shootLines),
    summaryOf(cares),
    ...(omitted === 0 ? [] : [`not shown: ${omitted} without problems (--output json lists all)`]),
    '',
  ].join('\n');
};

/** The JSON and YAML form of the results, with conditions as in the status of a Shoot. */
const documentOf = (cares: CareResults) => ({
  shoots: cares.map(({ namespace, shoot, status, problem, conditions, writing }) => {
    return { namespace, shoot, status, problem, conditions, writing };
  }),
});

/** Formats the results of `--once` as text without control characters other than line feeds and colours. Only the table is coloured. */
export const formatResults = (cares: CareResults, format: OutputFormat): string =>
  format === 'table' ? table(inPlainLines(cares)) : formatDocument(documentOf(cares), format);

const isBroken = ({ problem, writing: { kind, trouble } }: Shoot): boolean =>
  problem !== undefined || (trouble !== undefined && ['written', 'unchanged', 'failed'].includes(kind));

/** Returns 0 if all conditions are True or Progressing, 1 if one has another status, such as False or Unknown, 2 if a check or a write failed. */
export const exitCodeOf = (cares: CareResults): number => {
  if (cares.some(isBroken)) return 2;
  const isBad = ({ status }: Condition): boolean => status !== 'True' && status !== 'Progressing';
  return cares.some(({ conditions }) => conditions.some(isBad)) ? 1 : 0;
};
