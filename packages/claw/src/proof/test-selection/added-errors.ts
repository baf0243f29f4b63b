/** An error as compilers and linters write it, and what stays of it when other lines move. */
type ToldError = { readonly line: string; readonly key: string };

/**
 * Returns the errors that a compiler or linter names in one output and not in an earlier one, by file and code,
 * or by file and message where there is no code. Positions do not count: lines above an error may have changed.
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
