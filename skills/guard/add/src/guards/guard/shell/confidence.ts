import { isKnownProgram } from './programs.ts';
import type { Trace } from './trace-result.ts';
import type { Value } from './word-values.ts';

/** Certainty about the effect of a text, from 0 to 1, and the reasons for doubt. */
export type Confidence = { readonly value: number; readonly doubts: readonly string[] };

/** Tenths for the language of a text. Source: the scores of terraphim's execution guard. */
const LANGUAGE: Readonly<Record<string, number>> = {
  shell: 4,
  bash: 4,
  sh: 4,
  zsh: 4,
  python: 4,
  python3: 4,
  py: 4,
  javascript: 4,
  js: 4,
  typescript: 4,
  node: 4,
  perl: 4,
  ruby: 4,
  php: 4,
  lua: 4,
  awk: 4,
  gawk: 4,
  mawk: 4,
  rust: 3,
  go: 3,
  java: 3,
  c: 3,
  cpp: 3,
  text: 1,
  plaintext: 1,
  markdown: 1,
};

type Sign = readonly [tenths: number, isThere: boolean, doubt: string];

/**
 * Returns how sure it is what a shell would do with a text: 0.4 for a language that is read well, 0.1 for plain
 * text; 0.2 where it is whole, 0.2 where all its programs are known, and 0.1 each where nothing is decided only when
 * it runs and nothing outside the chat's folder is written.
 */
export function confidenceInShell(
  text: string,
  trace: Trace,
  ownPrograms: ReadonlySet<string>,
): Confidence {
  const unknown = trace.calls.flatMap(({ program, path }) => {
    if (program === null || isOfChat(path)) return [];
    return trace.own.has(program) || isKnownProgram(program, ownPrograms) ? [] : [program];
  });
  const isRead = trace.faults.length === 0;
  const isCommand = isRead && trace.unknown.length === 0 && !isProse(text, unknown);
  const outside = trace.written.filter((path) => !isInside(path));
  const known = isCommand && unknown.length === 0;
  const inside = isCommand && outside.length === 0;
  const language = isCommand || !isRead ? '' : whyNoCommand(trace);
  return sum([
    [0, language === '', language],
    [isCommand ? 4 : 1, true, ''],
    [2, isRead, `it is not whole (${trace.faults[0]})`],
    [1, isCommand, ''],
    [2, known, `\`${unknown[0]}\` is not a program that is known here`],
    [1, inside, `it writes outside the folder of the chat (${outside[0] ?? 'unknown'})`],
  ]);
}

function whyNoCommand({ unknown }: Trace): string {
  return unknown.length > 0
    ? `${unknown[0]} is known only when it runs`
    : 'it reads like a sentence';
}

/** Returns how sure it is what a program in some language does. */
export function confidenceInCode(language: string, code: string): Confidence {
  const name = language.toLowerCase();
  const isWhole = isBalanced(code);
  const hasKeywords =
    /\b(?:import|from|def|class|return|print|const|let|var|function|fn|func|use|package|public|struct|console|for|while|if)\b|=|\w\(/.test(
      code,
    );
  const isHidden =
    /\b(?:eval|exec|compile|atob|b64decode|fromCharCode|unhexlify)\s*\(|new Function\b/.test(code);
  const reachesOut =
    /\b(?:subprocess|os\.system|popen|child_process|execSync|spawn|socket|ctypes|Runtime\.getRuntime|std::process|syscall|system)\b/.test(
      code,
    );
  return sum([
    [LANGUAGE[name] ?? 2, true, ''],
    [2, isWhole, 'it is not whole'],
    [1, hasKeywords && !isHidden, 'it runs text that it makes itself'],
    [2, hasKeywords, 'it is hardly a program'],
    [1, hasKeywords && !reachesOut, 'it starts other programs'],
  ]);
}

function sum(signs: readonly Sign[]): Confidence {
  const tenths = signs.reduce((total, [points, isThere]) => total + (isThere ? points : 0), 0);
  const doubts = signs.flatMap(([, isThere, doubt]) => (isThere || doubt === '' ? [] : [doubt]));
  return { value: tenths / 10, doubts };
}

const SENTENCE =
  /\b(?:the|please|and then|you|your|my|all of|should|would|could|can you|let me|i will|i'll|we)\b/i;

/** A text whose first program nobody knows, and which has words that commands do not have. */
function isProse(text: string, unknown: readonly string[]): boolean {
  const [first = ''] = text.trim().split(/\s+/);
  if (!unknown.includes(first.replace(/^.*\//, ''))) return false;
  const isWordy = text.trim().split(/\s+/).length > 2 && !/\s-{1,2}\w|[|<>$`=/]/.test(text);
  return (
    isWordy && (SENTENCE.test(text) || /^[A-Z][a-z]+ /.test(text.trim()) || /[.!?]\s*$/.test(text))
  );
}

/** A script of the chat's folder is a file that can be read, whatever its name. */
function isOfChat(path: Value): boolean {
  return (
    path?.includes('/') === true &&
    /^(?:\/workspace\/|\/tmp\/|(?![/~]))/.test(path) &&
    isInside(path)
  );
}

function isInside(path: Value): boolean {
  if (path === null) return true; // A name that is made when it runs, mostly of a file of the folder.
  if (/^\/(?:workspace|tmp|var\/tmp|dev\/(?:null|stdout|stderr|tty|shm\/|fd\/))/.test(path)) {
    return !path.split('/').includes('..');
  }
  return !path.startsWith('/') && !path.startsWith('~') && !path.split('/').includes('..');
}

function isBalanced(code: string): boolean {
  // Every text has a longest length: else quotation marks that never end take minutes.
  const texts = /"(?:[^"\\\n]|\\.){0,1000}"|'(?:[^'\\\n]|\\.){0,1000}'|\/\/.*|#.*/g;
  const plain = code.replace(texts, '');
  return ['()', '[]', '{}'].every(
    ([open = '', close = '']) => plain.split(open).length === plain.split(close).length,
  );
}
