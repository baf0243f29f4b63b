import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { jsonWithin } from '../bounded-json.ts';
import { FarRefused } from './far-state.ts';
import { FIRST_STEP, MIN_NODE } from './ssh-first-step.ts';
import { GO, NEWS_MARK, SetupNews, type SetupRequest } from './ssh-messages.ts';

const MAX_LINE_CHARS = 65_536;
const MAX_ERROR_CHARS = 4_000;
/** Docker's image, packages and a chat's files take more; with less, not even the worker is sent. */
const LEAST_FREE_BYTES = 200 * 1024 ** 2;
const GOOD_FREE_BYTES = 5 * 1024 ** 3;

export type SshMachineParts = {
  /** As ssh takes it: `me@nas`, a name of its settings, or `ssh://me@nas:2222`. */
  readonly target: string;
  readonly request: SetupRequest;
  /** The packed worker. */
  readonly program: Buffer;
  /** Lets this key in at home. @throws FarRefused where home does not take it */
  readonly admit: (key: string, otherHome: string | null) => Promise<void>;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Sets another machine up as a worker of this home, by the system's own `ssh`: one login, whose questions ssh asks on the
 * terminal itself. Each step can be taken again, so the same call finishes what was cut off, and carries a newer worker.
 *
 * @returns what is left to do for the owner, in sentences
 * @throws FarRefused with what is wrong, and what to do
 */
export async function setUpBySsh(parts: SshMachineParts): Promise<readonly string[]> {
  const { target, program, request, onProgress } = parts;
  const ssh = startSsh(target, program, parts.signal);
  let hasBegun = false;
  for await (const news of ssh.news) {
    hasBegun = true;
    if (news.kind === 'problem') throw new FarRefused(news.text);
    if (news.kind === 'step') onProgress(news.text);
    if (news.kind === 'hello') {
      const free = `${(news.free / 1e9).toFixed(1)} GB`;
      onProgress(`${request.name} has Node ${news.node} and ${free} of free disk`);
      if (news.free < LEAST_FREE_BYTES) {
        throw new FarRefused(
          `${request.name} has only ${free} of free disk. Make room there first.`,
        );
      }
      if (news.free < GOOD_FREE_BYTES) onProgress('images and files of chats may need more disk');
      onProgress(
        news.isThere
          ? 'it has this worker already'
          : `sends the worker (${(program.length / 1e6).toFixed(1)} MB)`,
      );
      if (!news.isThere) ssh.write(program);
      ssh.write(`${JSON.stringify(request)}\n`);
    }
    if (news.kind === 'key') {
      await parts.admit(news.key, news.other);
      ssh.write(`${GO}\n`);
    }
    if (news.kind === 'done') return news.notes;
  }
  throw new FarRefused(whyEnded(target, await ssh.ended, hasBegun));
}

type Ended = { readonly code: number | null; readonly said: string; readonly isMissing: boolean };

function startSsh(target: string, program: Buffer, signal: AbortSignal) {
  const digest = hash('sha256', program, 'hex').slice(0, 16);
  const command = firstCommand(digest, program.length);
  // Neither keys nor a display of this machine go there. A link that is cut is noticed.
  const words = ['-T', '-a', '-x', '-o', 'ServerAliveInterval=15', '--', target, command];
  const child = spawn('ssh', words, { stdio: ['pipe', 'pipe', 'pipe'], signal });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-MAX_ERROR_CHARS);
  });
  // The machine tells why it takes no more, or the link is gone.
  child.stdin.on('error', () => {});
  const ended = new Promise<Ended>((resolve) => {
    child.once('error', (error) =>
      resolve({
        code: null,
        said: error.message,
        isMissing: 'code' in error && error.code === 'ENOENT',
      }),
    );
    child.once('close', (code) => resolve({ code, said: said.trim(), isMissing: false }));
  });
  return {
    ended,
    news: newsOf(child.stdout, () => child.kill()),
    write: (text: string | Buffer) => void child.stdin.write(text),
  };
}

/** Whatever a shell there prints beside is passed over. Whoever stops listening before the end ends the connection. */
async function* newsOf(stdout: Readable, close: () => void): AsyncGenerator<SetupNews> {
  let isOver = false;
  try {
    stdout.setEncoding('utf8');
    let pending = '';
    for await (const chunk of stdout) {
      const lines = `${pending}${chunk}`.split('\n');
      pending = (lines.pop() ?? '').slice(-MAX_LINE_CHARS);
      for (const line of lines) {
        if (!line.startsWith(NEWS_MARK)) continue;
        const news = SetupNews.safeParse(jsonWithin(line.slice(NEWS_MARK.length)));
        if (news.success) yield news.data;
      }
    }
    // ssh has still to say why, by its code.
    isOver = true;
  } finally {
    if (!isOver) close();
  }
}

/**
 * One command for whatever login shell is there: no quote, backslash or `!` inside the quotes. A shell that is not
 * interactive may not know where Node is, so the login shell is asked.
 */
function firstCommand(digest: string, sizeBytes: number): string {
  const words = [
    'n=$(command -v node || "$SHELL" -ilc "command -v node" </dev/null 2>/dev/null | tail -n 1)',
    `if [ -z "$n" ]; then echo "no node"; exit ${NO_NODE}; fi`,
    'exec "$n" -e "eval(String(Buffer.from(process.argv[1],process.argv[2])))" "$@"',
  ];
  const script = Buffer.from(FIRST_STEP).toString('base64');
  return `exec sh -c '${words.join('; ')}' sh ${script} base64 ${digest} ${sizeBytes}`;
}

const NO_NODE = 97;

/** ssh has no codes for its reasons. Its own words are always shown; they only choose the advice. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /IDENTIFICATION HAS CHANGED/,
    'Its host key is another one than before. If the machine was not installed anew, somebody else may answer in its place.',
  ],
  [
    /host key verification failed/i,
    'Its host key is not known here. Log in once with ssh in a terminal, compare the key that it shows, and run this command again.',
  ],
  [
    /permission denied|too many authentication failures|no supported authentication/i,
    'The login was refused. Check the user’s name, and whether the key or password is taken there.',
  ],
  [
    /could not resolve|refused|timed out|no route|unreachable/i,
    'Is the machine on, and does its ssh server run?',
  ],
];

function whyEnded(target: string, { code, said, isMissing }: Ended, hasBegun: boolean): string {
  if (isMissing) {
    return 'ssh is not installed on this machine. Debian: `sudo apt install openssh-client`.';
  }
  const words = said.split('\n').slice(-3).join(' ').trim();
  if (code === NO_NODE) {
    return `${target} has no Node. Install Node ${MIN_NODE} or newer there (https://nodejs.org), and run this command again.`;
  }
  if (hasBegun) {
    const why = words === '' ? '' : ` (${words})`;
    return `The connection to ${target} ended in the middle${why}. Run the same command again: it continues.`;
  }
  const advice = ADVICE.find(([pattern]) => pattern.test(said))?.[1] ?? '';
  const reason = words === '' ? `ssh ended with code ${code}` : words;
  return `${target} cannot be set up: ${reason}. ${advice}`.replace(/\.\. /, '. ').trim();
}
