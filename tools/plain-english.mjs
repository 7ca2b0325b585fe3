// ESLint's part of the language: comments and titles of tests are plain sentences that name their subject (CONTRIBUTING.md, Rules for a change).

const clause = '(?:[Ww]hat|[Ww]hoever|[Ww]hether|Which|Who)';

/** Openings that leave the subject out: "Of the run before", "What a probe reads", "In which a kubelet renews". */
const openings = new RegExp(
  String.raw`^(?:Of|(?:In|On|At|By|From|To|With|For|Under|Within|After|Until) (?:which|whom|what)|${clause})\b`,
);
const laterOpenings = new RegExp(String.raw`[.;:] ${clause}\b`);
const translated = /\b(?:whoever|of (?:which|whom))\b/i;
const speaking = /\b(?:tells|says|(?:is|are|was|were) asked)\b/;

const problemOf = (text) => {
  if (openings.test(text) || laterOpenings.test(text)) return 'Begin the sentence with its subject, a noun or a verb.';
  if (translated.test(text)) return 'Name the subject: neither "whoever" nor "of which".';
  if (speaking.test(text)) return 'Programs and objects report, show, return or request; they do not say, tell or ask.';
  return undefined;
};

/** The text of a comment, on one line; empty for a directive. */
const textOf = ({ value }) => {
  const text = value
    .replaceAll(/^\s*\*+\s?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^(?:eslint|@ts-|v8 |shellcheck)/.test(text) ? '' : text;
};

const titled = new Set(['describe', 'it', 'test']);

/** The function that `it('...')`, `it.each(...)('...')` and `it.skipIf(...)('...')` call in the end. */
const calledName = ({ callee }) => {
  let at = callee;
  while (at.type === 'CallExpression' || at.type === 'MemberExpression') {
    at = at.type === 'CallExpression' ? at.callee : at.object;
  }
  return at.name;
};

/** Line comments that follow each other are one text. */
const textsOf = (comments) => {
  const texts = [];
  for (const comment of comments) {
    const text = textOf(comment);
    const before = texts.at(-1);
    const continues =
      comment.type === 'Line' && before?.type === 'Line' && before.endsOn === comment.loc.start.line - 1;
    if (continues) {
      before.text += ` ${text}`;
      before.endsOn = comment.loc.end.line;
    } else {
      texts.push({ text, type: comment.type, node: comment, endsOn: comment.loc.end.line });
    }
  }
  return texts;
};

const plainEnglish = {
  meta: { type: 'suggestion', schema: [], messages: { plain: '{{problem}}' } },
  create: (context) => {
    const report = (node, text) => {
      const problem = problemOf(text);
      if (problem !== undefined) context.report({ node, messageId: 'plain', data: { problem } });
    };
    return {
      Program: () => {
        for (const { node, text } of textsOf(context.sourceCode.getAllComments())) report(node, text);
      },
      CallExpression: (node) => {
        const [title] = node.arguments;
        if (title?.type === 'Literal' && typeof title.value === 'string' && titled.has(calledName(node))) {
          report(title, title.value);
        }
      },
    };
  },
};

export const language = {
  plugins: { language: { rules: { 'plain-english': plainEnglish } } },
  rules: { 'language/plain-english': 'error' },
};
