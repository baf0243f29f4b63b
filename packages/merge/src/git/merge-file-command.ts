import { parseArgs } from 'node:util';
import { configuredStyle, git, readVersion, replaceFile } from './git-files.ts';
import { type ConflictStyle, type Favour, mergeFile } from './merge-file.ts';

/** Exit codes of `git merge-file` beside the number of conflicts. */
const FAILED = 255;
const WRONG_USE = 129;
const MOST_CONFLICTS = 127;

const ALGORITHMS = ['myers', 'default', 'minimal', 'patience', 'histogram'];

const OPTIONS = {
  stdout: { type: 'boolean', short: 'p' },
  quiet: { type: 'boolean', short: 'q' },
  label: { type: 'string', short: 'L', multiple: true },
  diff3: { type: 'boolean' },
  zdiff3: { type: 'boolean' },
  ours: { type: 'boolean' },
  theirs: { type: 'boolean' },
  union: { type: 'boolean' },
  'marker-size': { type: 'string' },
  'object-id': { type: 'boolean' },
  'diff-algorithm': { type: 'string' },
  path: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Usage of `claw merge-file`, as its help prints it. */
export const MERGE_FILE_USAGE = `usage: claw merge-file [options] [-L <name1> [-L <orig> [-L <name2>]]] <file1> <orig-file> <file2>

Works like git merge-file: puts the changes from orig-file to file2 into file1.

    -p, --stdout          send the result to standard output, and leave file1 alone
    -q, --quiet           do not warn about conflicts
    -L <name>             labels for file1, orig-file and file2
    --diff3, --zdiff3     show the base in conflicts too; with zdiff3, lines that both sides begin or end with are outside
    --ours, --theirs, --union   resolve conflicts with one side, or with the lines of both
    --marker-size <n>     the length of markers (7)
    --object-id           read git objects (\`HEAD:a.ts\`) instead of files; without -p, write the result as an object and print its id
    --diff-algorithm <a>  accepted, as git has it, and ignored: claw compares lines in its own way
    --path <name>         only in claw: a file name that tells the language, if that of file1 does not

Exit codes: 0 clean · 1 to 127 the number of conflicts (127: that many or more) · 255 an error · 129 wrong use
`;

type MergeFileArguments = {
  readonly files: readonly [string, string, string];
  readonly labels: readonly string[];
  readonly style: ConflictStyle | null;
  readonly favour: Favour;
  readonly markerSize: number;
  readonly path: string;
  readonly isStdout: boolean;
  readonly isQuiet: boolean;
  readonly isObject: boolean;
};

/** Runs `claw merge-file`. @returns the exit code, as that of `git merge-file` */
export function mergeFileCommand(args: readonly string[]): number {
  const request = parse(args);
  if (typeof request === 'string') {
    const isHelp = request === '';
    process.stderr.write(isHelp ? MERGE_FILE_USAGE : `error: ${request}\n${MERGE_FILE_USAGE}`);
    return WRONG_USE;
  }
  try {
    return merge(request);
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return FAILED;
  }
}

function merge(request: MergeFileArguments): number {
  const { files, labels, favour, markerSize, path, isStdout, isQuiet, isObject } = request;
  const read = isObject ? readObject : readVersion;
  const [ours, base, theirs] = files;
  const merged = mergeFile({ ours: read(ours), base: read(base), theirs: read(theirs) }, path, {
    style: request.style ?? configuredStyle(),
    favour,
    markerSize,
    labels: {
      ours: labels[0] ?? ours,
      base: labels[1] ?? base,
      theirs: labels[2] ?? theirs,
    },
  });
  if (merged.kind === 'binary') throw new Error(`Cannot merge binary files: ${ours}`);
  const { bytes, conflicts } = merged;
  if (isStdout) process.stdout.write(bytes);
  else if (isObject) process.stdout.write(git(['hash-object', '-w', '--stdin'], bytes));
  else replaceFile(ours, bytes);
  if (conflicts > 0 && !isQuiet) {
    const places = conflicts === 1 ? 'a conflict' : `${conflicts} conflicts`;
    process.stderr.write(`warning: ${places} in ${path}\n`);
  }
  return Math.min(conflicts, MOST_CONFLICTS);
}

function readObject(name: string): Buffer {
  try {
    return git(['cat-file', 'blob', name]);
  } catch {
    throw new Error(`object '${name}' does not exist or is not a file`);
  }
}

/** Parses the arguments; a text is what is wrong with them, and empty where help was asked for. */
function parse(args: readonly string[]): MergeFileArguments | string {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
      tokens: true,
    });
    if (values.help === true) return '';
    const [ours, base, theirs] = positionals;
    if (ours === undefined || base === undefined || theirs === undefined || positionals[3]) {
      return 'three files are needed';
    }
    const labels = values.label ?? [];
    if (labels.length > 3) return 'too many labels on the command line';
    const algorithm = values['diff-algorithm'];
    if (algorithm !== undefined && !ALGORITHMS.includes(algorithm)) {
      return `option diff-algorithm accepts ${ALGORITHMS.join(', ')}`;
    }
    // As in git, the last of those that exclude each other counts.
    const lastOf = (names: readonly string[]) =>
      tokens.findLast((token) => token.kind === 'option' && names.includes(token.name));
    const markerSize = sizeOf(values['marker-size']);
    if (markerSize === null) return 'option marker-size expects a number';
    return {
      files: [ours, base, theirs],
      labels,
      style: nameOf(lastOf(['diff3', 'zdiff3'])),
      favour: nameOf(lastOf(['ours', 'theirs', 'union'])),
      markerSize,
      path: values.path ?? ours,
      isStdout: values.stdout === true,
      isQuiet: values.quiet === true,
      isObject: values['object-id'] === true,
    };
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  }
}

/** Reads a length of markers; git takes 7 for what is not above 0. */
function sizeOf(text: string | undefined): number | null {
  if (text === undefined) return 7;
  if (!/^-?\d{1,4}$/.test(text)) return null;
  return Number(text) > 0 ? Number(text) : 7;
}

function nameOf<Name extends string>(token: { readonly kind: string } | undefined): Name | null {
  return token !== undefined && 'name' in token ? (token.name as Name) : null;
}
