import { DECLARES } from './kinds.ts';
import { BREAK, type Value } from './word-values.ts';

type Variables = Map<string, Value>;

/** Sets the words of a function or a script: `$1` to `$9`, `$@` and `$*`. */
export function setParameters(variables: Variables, args: readonly Value[]): void {
  const all = args.some((arg) => arg === null) ? null : args.join(BREAK);
  variables.set('@', all).set('*', all);
  for (let at = 0; at < 9; at += 1) {
    const arg = args[at];
    variables.set(String(at + 1), arg === undefined ? '' : arg);
  }
}

/** Sets what a program of the shell itself sets: `export x=1`, or `read x` to something that is not known. */
export function setVariables(variables: Variables, program: string, args: readonly Value[]): void {
  for (const arg of args) {
    const [, name, value] = /^(\w+)(?:=([\s\S]*))?$/.exec(arg ?? '') ?? [];
    if (name === undefined) continue;
    if (DECLARES.test(program)) {
      if (value !== undefined) variables.set(name, value);
    } else variables.set(name, null);
  }
}
