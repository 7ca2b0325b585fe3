import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import GithubSlugger from 'github-slugger';
import { marked, type Token, type Tokens } from 'marked';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** All Markdown files of the repository, by path from its root. */
export const documents: readonly string[] = globSync(
  ['*.md', '{docs,examples,deploy,bench,test,tools,.github}/**/*.md'],
  {
    cwd: root,
    exclude: (path) => path.split('/').includes('node_modules'),
  },
).toSorted();

export interface MarkdownDocument {
  /** Targets of links and images, as written. */
  readonly links: readonly string[];
  /** Fragments that a link may have, as GitHub derives them from the headings. */
  readonly anchors: ReadonlySet<string>;
  /** Contents of fenced blocks whose language is `sh`, and of indented blocks that begin with a command. */
  readonly scripts: readonly string[];
  /** Contents of fenced blocks whose language is `console`. */
  readonly consoles: readonly string[];
  /** Contents of fenced blocks whose language is `yaml`. */
  readonly yamls: readonly string[];
  /** Inline code. */
  readonly spans: readonly string[];
}

const plainText = (tokens: readonly Token[] = []): string =>
  tokens
    .map((token) => {
      const { tokens: inner, text } = token as { readonly tokens?: readonly Token[]; readonly text?: string };
      return inner === undefined ? (text ?? '') : plainText(inner);
    })
    .join('');

const isScript = ({ lang, codeBlockStyle, text }: Tokens.Code): boolean =>
  lang === 'sh' || (codeBlockStyle === 'indented' && /^(?:dwd|kubectl) /.test(text));

const parseMarkdown = (text: string): MarkdownDocument => {
  const slugger = new GithubSlugger();
  const links: string[] = [];
  const scripts: string[] = [];
  const consoles: string[] = [];
  const yamls: string[] = [];
  const spans: string[] = [];
  const anchors = new Set<string>();
  void marked.walkTokens(marked.lexer(text), (token) => {
    const { type } = token;
    if (type === 'link' || type === 'image') links.push((token as Tokens.Link).href);
    else if (type === 'heading') anchors.add(slugger.slug(plainText(token.tokens)));
    else if (type === 'code' && isScript(token as Tokens.Code)) scripts.push((token as Tokens.Code).text);
    else if (type === 'code' && (token as Tokens.Code).lang === 'console') consoles.push((token as Tokens.Code).text);
    else if (type === 'code' && (token as Tokens.Code).lang === 'yaml') yamls.push((token as Tokens.Code).text);
    else if (type === 'codespan') spans.push((token as Tokens.Codespan).text);
  });
  return { links, anchors, scripts, consoles, yamls, spans };
};

const known = new Map<string, MarkdownDocument>();

export const documentAt = (path: string): MarkdownDocument => {
  const document = known.get(path) ?? parseMarkdown(readFileSync(`${root}${path}`, 'utf8'));
  known.set(path, document);
  return document;
};
