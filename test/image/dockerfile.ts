import { readFileSync } from 'node:fs';

/** One instruction of a Dockerfile: `COPY`, `--from=build /tree/ /`. */
export interface Instruction {
  readonly keyword: string;
  readonly content: string;
}

/** Of deploy/image/Dockerfile: without comments, with continued lines in one. It has no heredocs and no escape directive. */
export const readDockerfile = (): readonly Instruction[] =>
  readFileSync(new URL('../../deploy/image/Dockerfile', import.meta.url), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, keyword = '', content = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (keyword === '') throw new Error(`no instruction of a Dockerfile: ${line}`);
      return { keyword, content };
    });

/** What an image's configuration says of the processes that are started from it. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>;
  /** `uid:gid` */
  readonly user: string;
  readonly entrypoint: readonly string[];
}

/** Of the last stage, whose image is shipped. */
export const readImageConfig = (): ImageConfig => {
  const instructions = readDockerfile();
  const shipped = instructions.slice(instructions.findLastIndex(({ keyword }) => keyword === 'FROM'));
  const of = (wanted: string): readonly string[] =>
    shipped.filter(({ keyword }) => keyword === wanted).map(({ content }) => content);
  return {
    env: Object.fromEntries(of('ENV').map((line) => line.split(/=(.*)/s, 2) as [string, string])),
    user: of('USER').at(-1) ?? '0:0',
    entrypoint: JSON.parse(of('ENTRYPOINT').at(-1) ?? '[]') as string[],
  };
};
