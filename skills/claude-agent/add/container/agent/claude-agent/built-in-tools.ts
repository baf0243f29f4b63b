import { z } from 'zod';

/** One of the SDK's own tools, as the host knows it: by the name and the input of the agent's tool that it stands for. */
export type BuiltInTool = {
  /** The agent's tool whose rights, guards and switches hold for it. */
  readonly own: string;
  /** Returns the input as that tool would have it, for guards. */
  inputFor(given: unknown): unknown;
  /** Returns the result as text, for guards. */
  textOf(response: unknown): string;
  /** Returns the result with another text in its place; null where it is the same for every text. */
  withText(response: unknown, text: string): unknown;
};

/** Checks the two ends of a definition against one schema each. */
function builtIn<Input, Response>(definition: {
  readonly own: string;
  readonly input: z.ZodType<Input>;
  readonly inputFor: (given: Input) => unknown;
  readonly response: z.ZodType<Response>;
  readonly textOf: (response: Response) => string;
  readonly withText: (response: Response, text: string) => unknown;
}): BuiltInTool {
  const { own, input, response } = definition;
  return {
    own,
    inputFor: (given) => definition.inputFor(input.parse(given)),
    textOf: (given) => definition.textOf(response.parse(given)),
    withText: (given, text) => definition.withText(response.parse(given), text),
  };
}

const Output = z.looseObject({ stdout: z.string().default(''), stderr: z.string().default('') });
const FileRead = z.looseObject({
  file: z.looseObject({ content: z.string().optional(), filePath: z.string().optional() }),
});
const Found = z.looseObject({
  content: z.string().optional(),
  filenames: z.array(z.string()).default([]),
});
const Done = z.unknown();

/** The SDK's tools that agents get here, by their names there. */
export const BUILT_IN: Readonly<Record<string, BuiltInTool>> = {
  Bash: builtIn({
    own: 'shell',
    input: z.looseObject({ command: z.string() }),
    inputFor: ({ command }) => ({ command }),
    response: Output,
    textOf: ({ stdout, stderr }) => [stdout, stderr].filter((text) => text !== '').join('\n'),
    withText: (response, stdout) => ({ ...response, stdout, stderr: '' }),
  }),
  Read: builtIn({
    own: 'read_file',
    input: z.looseObject({
      file_path: z.string(),
      offset: z.number().optional(),
      limit: z.number().optional(),
    }),
    inputFor: ({ file_path: path, offset: from_line = 1, limit: lines }) => ({
      path,
      from_line,
      ...(lines === undefined ? {} : { lines }),
    }),
    response: FileRead,
    textOf: ({ file }) => file.content ?? `[${file.filePath ?? 'a file'}]`,
    withText: ({ file, ...response }, content) => ({
      ...response,
      type: 'text',
      file: { numLines: 1, startLine: 1, totalLines: 1, filePath: '', ...file, content },
    }),
  }),
  Grep: builtIn({
    own: 'read_file',
    input: z.looseObject({ path: z.string().default('.') }),
    inputFor: ({ path }) => ({ path, from_line: 1 }),
    response: Found,
    textOf: ({ content, filenames }) => content ?? filenames.join('\n'),
    withText: (response, content) => ({ ...response, mode: 'content', content, numLines: 1 }),
  }),
  Glob: builtIn({
    own: 'list_files',
    input: z.looseObject({ path: z.string().default('.') }),
    inputFor: ({ path }) => ({ path, depth: 10 }),
    response: Found,
    textOf: ({ filenames }) => filenames.join('\n'),
    withText: (response, text) => ({
      ...response,
      filenames: text.split('\n'),
      numFiles: text.split('\n').length,
      totalMatches: undefined,
      truncated: false,
    }),
  }),
  Write: builtIn({
    own: 'write_file',
    input: z.looseObject({ file_path: z.string(), content: z.string() }),
    inputFor: ({ file_path: path, content }) => ({ path, content }),
    response: Done,
    textOf: () => 'Written.',
    withText: (response) => response,
  }),
  Edit: builtIn({
    own: 'edit_file',
    input: z.looseObject({
      file_path: z.string(),
      old_string: z.string(),
      new_string: z.string(),
      replace_all: z.boolean().default(false),
    }),
    inputFor: ({ file_path: path, old_string: old_text, new_string: new_text, replace_all }) => ({
      path,
      old_text,
      new_text,
      replace_all,
    }),
    response: Done,
    textOf: () => 'Changed.',
    withText: (response) => response,
  }),
};

/** Tools of the agent's own that one of the SDK's does as well; `read_file` stays, for PDF. */
export const REPLACED: ReadonlySet<string> = new Set(
  Object.values(BUILT_IN)
    .map(({ own }) => own)
    .filter((own) => own !== 'read_file'),
);
