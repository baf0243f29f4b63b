import type { Value } from './word-values.ts';

/** One program and its words, as it would run. */
export type Call = {
  /** Without its folder; null where it is known only when it runs. */
  readonly program: string | null;
  /** As it was written; null where it is not known. */
  readonly path: Value;
  readonly args: readonly Value[];
};

/** Returns what a program writes for what it reads, where both are known. */
export function outputOf({ program, args }: Omit<Call, 'path'>, input: Value): Value {
  const known = args.filter((arg) => arg !== null);
  if (known.length < args.length) return null;
  switch (program) {
    case 'echo':
      return echoed(known);
    case 'printf':
      return printed(known);
    case 'cat':
    case 'tee':
      return known.every((arg) => arg.startsWith('-')) ? input : null;
    case 'base64':
      return /^(?:-d|-D|--decode)$/.test(known[0] ?? '') ? decoded(input, 'base64') : null;
    case 'xxd':
      return known.some((arg) => /^-r/.test(arg)) ? decoded(input, 'hex') : null;
    case 'rev':
      return input?.split('\n').map(reversed).join('\n') ?? null;
    default:
      return null;
  }
}

function echoed(args: readonly string[]): string {
  const flags = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
  const words = flags === -1 ? [] : args.slice(flags);
  const isEscaped = args.slice(0, Math.max(flags, 0)).some((arg) => arg.includes('e'));
  const text = words.join(' ');
  return isEscaped ? unescaped(text) : text;
}

function printed([format = '', ...args]: readonly string[]): string {
  const left = [...args];
  const replaced = format.replace(/%(?:%|b|s|q)/g, (sign) =>
    sign === '%%' ? '%' : (left.shift() ?? ''),
  );
  return unescaped([replaced, ...left].join(''));
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-f]{1,2})|u([\da-f]{4})|0?([0-7]{1,3})|([nrt\\]))/gi,
    (_, hex?: string, wide?: string, octal?: string, letter?: string) => {
      if (letter !== undefined) return { n: '\n', r: '\r', t: '\t' }[letter] ?? '\\';
      const code =
        octal === undefined ? Number.parseInt(hex ?? wide ?? '', 16) : Number.parseInt(octal, 8);
      return String.fromCharCode(code);
    },
  );
}

function decoded(input: Value, encoding: 'base64' | 'hex'): Value {
  return input === null ? null : Buffer.from(input.replace(/\s+/g, ''), encoding).toString();
}

function reversed(line: string): string {
  return [...line].reverse().join('');
}
