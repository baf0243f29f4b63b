/** A test that failed, as its runner told of it. */
export type FailingTest = {
  /** With the file that it is in, where the runner names it. */
  readonly name: string;
  /** The beginning of what is wrong, and where. */
  readonly lines: readonly string[];
};

const MAX_LINES = 8;
const SHOWN_TESTS = 3;
const FALLBACK_LINES = 12;
const SHOWN_ERRORS = 6;

/** Removes escape sequences: colours, titles, cursor moves. */
export function plainText(output: string): string {
  return output
    .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
    .replace(/\r\n?/g, '\n');
}

/** Finds the failing tests in the output of Vitest, `node --test` or any program that prints TAP. */
export function failingTests(output: string): readonly FailingTest[] {
  const lines = output.split('\n');
  for (const read of [readVitest, readNodeSpec, readTap]) {
    const found = read(lines);
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns the test files that fail according to the output, also if the run was cut short. */
export function failingFiles(output: string, files: readonly string[]): readonly string[] {
  const names = failingTests(output).map(({ name }) => name);
  // Vitest lists failures at its end, and says of each file when it has ended.
  const ended = plainText(output).matchAll(/^ ?❯ (\S+) \((?:0 test|.*\b\d+ failed\b)/gm);
  const failing = [...names, ...[...ended].map(([, path = '']) => path)];
  return files.filter((path) =>
    failing.some((name) => name.startsWith(path) || name.includes(`/${path} > `)),
  );
}

/**
 * Summarises a failure in a few lines: the first failing tests with the beginning of their errors. For any other
 * program: the lines that name an error, or the last ones.
 */
export function failureText(output: string): string {
  const tests = failingTests(output);
  if (tests.length === 0) return otherText(output);
  const shown = tests
    .slice(0, SHOWN_TESTS)
    .flatMap(({ name, lines }) => [`✗ ${name}`, ...lines.map((line) => `    ${line}`)]);
  const more = tests.length - SHOWN_TESTS;
  if (more > 0) shown.push(more === 1 ? 'and 1 more' : `and ${more} more`);
  return shown.join('\n');
}

function otherText(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  // As compilers and linters write them: `a.ts(1,2): error …`, `a.go:1:2: …`.
  const errors = lines.filter((line) => /^\S.*?(?:\(\d+,\d+\)|:\d+(?::\d+)?): \S/.test(line));
  if (errors.length === 0) return lines.slice(-FALLBACK_LINES).join('\n');
  const more = errors.length - SHOWN_ERRORS;
  return [...errors.slice(0, SHOWN_ERRORS), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

function readVitest(lines: readonly string[]): readonly FailingTest[] {
  return lines.flatMap((line, at) => {
    const name = /^ FAIL {2}(.+?)(?: \[ .* \])?$/.exec(line)?.[1];
    if (name === undefined) return [];
    // Tests that fail of one cause are listed one below the other, above it.
    const start = lines.findIndex((one, index) => index > at && !/^ FAIL {2}/.test(one));
    const end = lines.findIndex((one, index) => index > at && /^⎯+/.test(one));
    return [{ name, lines: beginning(lines.slice(start, end === -1 ? undefined : end), /^ ❯ /) }];
  });
}

function readNodeSpec(lines: readonly string[]): readonly FailingTest[] {
  const start = lines.indexOf('✖ failing tests:');
  if (start === -1) return [];
  return lines.flatMap((line, at) => {
    const place = at > start ? /^test at (.+):\d+:\d+$/.exec(line)?.[1] : undefined;
    const name = /^✖ (.+?)(?: \([\d.]+ms\))?$/.exec(lines[at + 1] ?? '')?.[1];
    if (place === undefined || name === undefined) return [];
    const after = lines.slice(at + 2);
    const end = after.findIndex((one) => one !== '' && !one.startsWith('  '));
    const own = end === -1 ? after : after.slice(0, end);
    const told = beginning(
      own.map((one) => one.replace(/^ {2}/, '')),
      /^\s+at /,
    );
    // A file that throws while it is loaded is told of above, where it did.
    const isWhole = told.every((one) => one === "'test failed'");
    const error = isWhole ? lines.slice(0, start).findIndex((one) => /^\w*Error\b/.test(one)) : -1;
    const cause = error === -1 ? told : beginning(lines.slice(error, start), /^\s+at /);
    return [{ name: place === name ? name : `${place} > ${name}`, lines: cause }];
  });
}

function readTap(lines: readonly string[]): readonly FailingTest[] {
  return lines.flatMap((line, at) => {
    const [, indent = '', name] = /^( *)not ok \d+ (?:- )?(.*)$/.exec(line) ?? [];
    if (name === undefined || / # (todo|skip)\b/i.test(name)) return [];
    const after = lines.slice(at + 1);
    if (after[0]?.trim() !== '---') return [{ name, lines: [] }];
    const end = after.findIndex((one) => one.startsWith(`${indent}  ...`));
    const block = after.slice(1, end === -1 ? undefined : end);
    if (block.some((one) => /failureType: 'subtestsFailed'/.test(one))) return [];
    const place = fieldOf(block, 'location')?.replace(/:\d+:\d+$/, '');
    const error = fieldOf(block, 'error') ?? fieldOf(block, 'message');
    return [{ name: place ? `${place} > ${name}` : name, lines: error ? [error] : [] }];
  });
}

function fieldOf(block: readonly string[], key: string): string | undefined {
  const at = block.findIndex((line) => line.trimStart().startsWith(`${key}:`));
  const value = block[at]
    ?.trimStart()
    .slice(key.length + 1)
    .trim();
  if (at === -1 || value === undefined) return undefined;
  if (/^[|>]/.test(value)) return block[at + 1]?.trim();
  return value.replace(/^(['"])(.*)\1$/, '$2');
}

/** Returns the lines up to the first that says where, which is the last of them. */
function beginning(lines: readonly string[], where: RegExp): readonly string[] {
  const full = lines.filter((line) => line.trim() !== '');
  const at = full.findIndex((line) => where.test(line));
  const message = at === -1 ? full : full.slice(0, at);
  const own = at === -1 ? undefined : full.slice(at).find((line) => isOwnPlace(line, where));
  const shown = message.slice(0, own === undefined ? MAX_LINES : MAX_LINES - 1);
  return [...shown, ...(own === undefined ? [] : [own])].map((line) => line.trimEnd());
}

/** Tells whether a line of a stack is in the project, and so worth showing. */
function isOwnPlace(line: string, where: RegExp): boolean {
  return where.test(line) && !/node:|node_modules/.test(line);
}

/** An error as compilers and linters write it, and what stays of it when other lines move. */
type ToldError = { readonly line: string; readonly key: string };

/**
 * Returns the errors that a compiler or linter names in one output and not in an earlier one, by file and code, or by
 * file and message if there is no code. Positions do not count: lines above an error may have changed.
 *
 * @returns the lines that are new; none where the earlier output names no errors, as nothing can be compared
 */
export function addedErrors(now: string, before: string): readonly string[] {
  const left = new Map<string, number>();
  for (const { key } of errorsIn(before)) left.set(key, (left.get(key) ?? 0) + 1);
  if (left.size === 0) return [];
  return errorsIn(now).flatMap(({ key, line }) => {
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count > 0 ? [] : [line];
  });
}

function errorsIn(output: string): readonly ToldError[] {
  return output.split('\n').flatMap((line) => {
    // `a.ts(1,2): error TS1: …`, `a.go:1:2: …`
    const [, file, told = ''] =
      /^(\S+?\.\w+)(?:\(\d+,\d+\)|:\d+(?::\d+)?): (\S.*)$/.exec(line.trimEnd()) ?? [];
    if (file === undefined || /^\w*(?:warning|note)\b/i.test(told)) return [];
    const code = /^(?:error |fatal error )?\[?([A-Z]{1,6}\d+)\]?\b/.exec(told)?.[1];
    return [{ line, key: `${file} ${code ?? told}` }];
  });
}
